export const CONTRACT_STATUSES = ["in_progress", "ok", "needs_clarification", "failed", "partial"] as const;
export type ContractStatus = (typeof CONTRACT_STATUSES)[number];

/**
 * What a subagent hands back in its last message.
 * Names and bounds: plugin/schemas/return-contract.schema.json.
 */
export type ReturnContract = {
  trace_id: string;
  status: ContractStatus;
  /** the subagent's own count */
  tokens_used?: { input?: number; output?: number };
  tool_calls?: number;
  result: {
    summary: string;
    files_changed?: string[];
    /** lines added and removed */
    diff_size_lines?: number;
  };
  evidence?: ContractItem[];
  risks?: ContractItem[];
  next_actions?: ContractItem[];
  needs_clarification?: string | string[] | null;
};

export type ContractItem = string | Record<string, unknown>;
