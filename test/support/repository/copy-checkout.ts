import { execFileSync } from "node:child_process";
import { cpSync, existsSync, symlinkSync } from "node:fs";
import path from "node:path";
import { ROOT } from "./source-files.ts";

/** Copies into a folder the files that git tracks or would track, and links the installed packages there. */
export function copyCheckout(folder: string): void {
  copySources(folder);
  symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
}

/** Copies into a folder the files that git tracks or would track. */
export function copySources(folder: string): void {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
  });
  for (const file of list.toString().split("\0")) {
    const from = path.join(ROOT, file);
    // git lists a deleted file until the deletion is committed.
    if (file !== "" && existsSync(from)) cpSync(from, path.join(folder, file));
  }
}
