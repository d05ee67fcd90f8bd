/**
 * `npm run move:check [-- --write]`: compiles the Treasury for every network against the fakes, without a warning, and
 * compares the digests and the compiled modules with the pinned ones; `--write` pins them. `tss treasury publish`
 * publishes the pinned modules. `--sources FOLDER` compiles against the networks' own code, from a folder with
 * checkouts of Sui (`sui`) and of Ika (`ika`). Exit code 1 if anything differs.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildTreasury, type CompiledTreasury } from "./move/build-treasury.ts";
import { readDeployed, readFake } from "./move/dependencies.ts";
import { readMoveFiles } from "./move/move-files.ts";
import { MOVE_NETWORKS } from "./move/published-packages.ts";

const { values } = parseArgs({ options: { write: { type: "boolean" }, sources: { type: "string" } } });
const TREASURY = path.resolve(import.meta.dirname, "../move/treasury");

const files = readMoveFiles(TREASURY);
const compiled: Record<string, CompiledTreasury> = {};
for (const network of MOVE_NETWORKS) {
  const read = values.sources === undefined ? readFake : readDeployed(values.sources, network);
  compiled[network] = await buildTreasury(files, network, read);
  console.log(`${network}: ${compiled[network].digest}`);
}
const digests = Object.fromEntries(Object.entries(compiled).map(([name, { digest }]) => [name, digest]));
for (const [name, content] of Object.entries({ "digests.json": digests, "compiled.json": compiled })) {
  const file = path.join(TREASURY, name);
  const text = `${JSON.stringify(content, undefined, 2)}\n`;
  if (values.write === true) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
    console.error(
      `the Treasury differs from move/treasury/${name}; \`npm run move:check -- --write\` pins it`,
    );
    process.exitCode = 1;
  }
}
