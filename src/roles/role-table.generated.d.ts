import type { RoleType } from "./role.ts";
import type { RoleRow } from "./role-table.ts";

/** team-protocols/role-selection-table.json as it was at build. */
export declare const ROLE_TABLE: readonly RoleRow[];

/** Role → type, out of the same table. */
export declare const ROLE_TYPE_ENTRIES: readonly (readonly [string, RoleType])[];
