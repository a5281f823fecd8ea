import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import intentSchema from "../../plugin/schemas/acs/intent.schema.json" with { type: "json" };
import provenanceSchema from "../../plugin/schemas/acs/provenance.schema.json" with { type: "json" };
import sessionStartSchema from "../../plugin/schemas/acs/session-start.schema.json" with { type: "json" };
import subagentStartSchema from "../../plugin/schemas/acs/subagent-start.schema.json" with { type: "json" };

const ajv = new Ajv2020({ strict: true, allErrors: true });
formats.default(ajv, ["uuid"]);
ajv.addSchema([provenanceSchema, intentSchema, sessionStartSchema, subagentStartSchema]);

/** Each constraint of an ACS payload's schema that a value breaks, as `place keyword`; empty for a valid value. */
export function broken(schema: string, value: unknown): string[] {
  const validate = ajv.getSchema(`urn:spawn-guard:acs:${schema}`);
  if (validate === undefined) throw new Error(`no schema ${schema}`);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, keyword, params }) => {
    const missing: unknown = params.missingProperty;
    return `${instancePath} ${keyword}${typeof missing === "string" ? ` ${missing}` : ""}`;
  });
}
