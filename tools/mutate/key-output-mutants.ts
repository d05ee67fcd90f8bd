import type { Mutant } from "./mutant.ts";

const OUTPUT = ["test/component/protocol/parameters/network-key-output.test.ts"];
const READ = ["test/unit/protocol/read-key-outputs.test.ts"];

/** Lines that decide which of a network key's outputs are trusted, and which presigns are used. */
export const KEY_OUTPUT_MUTANTS: readonly Mutant[] = [
  {
    name: "outputs with different keys are accepted as one key's",
    file: "src/protocol/parameters/network-key-output.ts",
    find: "chosen !== undefined && !equalBytes(chosen, found)",
    replace: "chosen !== undefined && !equalBytes(chosen, chosen)",
    tests: OUTPUT,
  },
  {
    name: "an output of an unknown version is read",
    file: "src/protocol/parameters/network-key-output.ts",
    find: "version < OLDEST_VERSION || version > NEWEST_VERSION",
    replace: "version < OLDEST_VERSION",
    tests: OUTPUT,
  },
  {
    name: "a map of any size is read",
    file: "src/protocol/parameters/network-key-output.ts",
    find: "if (count > MAX_PARTY_COUNT)",
    replace: "if (count > MAX_PARTY_COUNT * 1_000)",
    tests: OUTPUT,
  },
  {
    name: "an output that the network may still write is read",
    file: "src/protocol/chain/coordinator-objects.ts",
    find: "for (let of = epoch;",
    replace: "for (let of = epoch + 1n;",
    tests: READ,
  },
  {
    name: "an output of any size is read",
    file: "src/protocol/chain/coordinator-objects.ts",
    find: "if (sizeBytes > MAX_OUTPUT_BYTES) throw tooLarge();",
    replace: "",
    tests: READ,
  },
  {
    name: "a presign of version 3 fills the pool",
    file: "src/service/presigns/presign-session.ts",
    find: " && version === PRESIGN_VERSION",
    replace: "",
    tests: ["test/component/service/presigns/presign-pool.test.ts"],
  },
  {
    name: "a half is made for a presign of version 3",
    file: "src/client/sdk/actions/signing/sign-within.ts",
    find: "if (version !== PRESIGN_VERSION) {",
    replace: "if (version > PRESIGN_VERSION + 1) {",
    tests: ["test/unit/client/sdk/presign.test.ts"],
  },
];
