import { execFileSync } from "node:child_process";
import { cpSync, existsSync, symlinkSync } from "node:fs";
import path from "node:path";
import { ROOT } from "./source-files.ts";

/** Copies what git tracks, or would track, into a folder, and links the installed packages there. */
export function copyCheckout(folder: string): void {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
  });
  for (const file of list.toString().split("\0")) {
    const from = path.join(ROOT, file);
    // A file that was deleted is tracked until that is committed.
    if (file !== "" && existsSync(from)) cpSync(from, path.join(folder, file));
  }
  symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
}
