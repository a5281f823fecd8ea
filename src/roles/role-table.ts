import type { RoleType } from "./role.ts";

/** One row of team-protocols/role-selection-table.json. */
export type RoleRow = {
  role: string;
  type: RoleType;
  /** stack words: technologies and topics that are this role's, as a person names them */
  words: string[];
  /** other spellings, and near words of the same */
  also: string[];
  /** names of files that are this role's work; `*` stands for any characters, a slash parts folders */
  files: string[];
  /** its work is on whatever stack the others build on, so no stack speaks against it */
  anyStack?: true;
  /** only a workflow names it; words never choose it */
  spawnOnly?: true;
  /** for what no other row matches; exactly one row has it */
  fallback?: true;
};
