/**
 * `npm run move:check [-- --write]`: compiles the Treasury for every network against the fakes, without a warning, and
 * compares the digests with the pinned ones; `--write` pins them. `--sources FOLDER` compiles against what the networks run,
 * from a folder with checkouts of Sui (`sui`) and of Ika (`ika`). Exit code 1 if anything differs.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildTreasury } from "./move/build-treasury.ts";
import { readDeployed, readFake } from "./move/dependencies.ts";
import { readMoveFiles } from "./move/move-files.ts";
import { MOVE_NETWORKS } from "./move/published-packages.ts";

const { values } = parseArgs({ options: { write: { type: "boolean" }, sources: { type: "string" } } });
const TREASURY = path.resolve(import.meta.dirname, "../move/treasury");
const DIGESTS = path.join(TREASURY, "digests.json");

const files = readMoveFiles(TREASURY);
const digests: Record<string, string> = {};
for (const network of MOVE_NETWORKS) {
  const read = values.sources === undefined ? readFake : readDeployed(values.sources, network);
  digests[network] = await buildTreasury(files, network, read);
  console.log(`${network}: ${digests[network]}`);
}
const text = `${JSON.stringify(digests, undefined, 2)}\n`;
if (values.write === true) writeFileSync(DIGESTS, text);
else if (readFileSync(DIGESTS, "utf8") !== text) {
  console.error(
    "the Treasury has other digests than move/treasury/digests.json; `npm run move:check -- --write` pins them",
  );
  process.exitCode = 1;
}
