/**
 * Prints the bill of materials of the production packages in CycloneDX's JSON. It is npm's own, without the serial number
 * and the time, so that the same lock file always gives the same text.
 */
import { spawnSync } from "node:child_process";
import path from "node:path";

const { status, stdout } = spawnSync(
  "npm",
  ["sbom", "--sbom-format", "cyclonedx", "--omit=dev", "--omit=optional", "--package-lock-only"],
  { cwd: path.resolve(import.meta.dirname, ".."), encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
);
if (status !== 0) {
  process.stderr.write(stdout);
  process.exit(1);
}
const document = JSON.parse(stdout) as { serialNumber?: string; metadata: { timestamp?: string } };
delete document.serialNumber;
delete document.metadata.timestamp;
console.log(JSON.stringify(document, undefined, 2));
