// count-tests.mjs REPORT: prints how many tests of a vitest JSON report passed and failed, as "P F", and names the
// failed ones on standard error. A file that failed before its first test counts as one.
import { readFileSync } from "node:fs";

const { numPassedTests, testResults } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (status === "failed" && failed.length === 0) return [`${name}: ${message}`];
  return failed.map(({ fullName, failureMessages }) => `${name}: ${fullName}\n${failureMessages.join("\n")}`);
});
for (const failure of failures) console.error(`failed: ${failure.slice(0, 2000)}`);
console.log(numPassedTests, failures.length);
