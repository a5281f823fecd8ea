import { defineConfig } from "vitest/config";

// Each host test runs the real Claude Code; one file at a time keeps a small machine from timing out.
export default defineConfig({
  test: {
    include: ["test/host/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
});
