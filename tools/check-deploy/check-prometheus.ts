import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { runChecker } from "./run-checker.ts";

/** Returns the faults of alert rules and of a configuration that uses them. */
export function checkPrometheus(configuration: string, rules: string): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), "check-deploy-"));
  try {
    const copy = path.join(folder, "prometheus.yml");
    cpSync(configuration, copy);
    // The key that the example reads. promtool wants the file to exist.
    writeFileSync(path.join(folder, "admin-key"), "");
    cpSync(rules, path.join(folder, path.basename(rules)));
    return [
      ...runChecker("promtool", ["check", "config", "--lint=all", "--lint-fatal", copy]),
      ...runChecker("promtool", ["check", "rules", "--lint=all", "--lint-fatal", rules]),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
