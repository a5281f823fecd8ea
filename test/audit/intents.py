"""When one set of ACS capabilities is within another: the rule is this project's, the standard gives none."""


def within(inner, outer):
    """Whether each capability of `inner` is covered by one of `outer`."""
    return all(any(covers(other, one) for other in outer) for one in inner)


def covers(outer, inner):
    """A member that is absent stands for anything, one that ends in * for what begins so."""
    return all(_covers(outer.get(name), inner.get(name)) for name in ("tool", "operation", "resource"))


def _covers(outer, inner):
    if outer in (None, "*"):
        return True
    if inner is None or "/../" in inner or "/./" in inner:
        return False
    return inner == outer or (outer.endswith("*") and inner.startswith(outer[:-1]))
