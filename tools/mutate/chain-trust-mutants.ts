import type { Mutant } from "./mutant.ts";

const CHAIN = ["test/unit/sdk/trusted-chain.test.ts"];
const ATTACKER = ["test/component/sdk/attackers-chain.test.ts"];
const PARAMETERS = ["test/component/sdk/chain-parameters.test.ts"];
const PRESIGN = ["test/unit/sdk/presign.test.ts"];

/** Lines by which a client believes no chain, parameters or presign because the service or one fullnode says so. */
export const CHAIN_TRUST_MUTANTS: readonly Mutant[] = [
  {
    name: "the ids that the service names are not compared with the client's own",
    file: "src/sdk/network.ts",
    find: "    if (pins !== undefined) checkAnnouncedIds(pins.ika, announcedIds(answer));\n",
    replace: "",
    tests: [...ATTACKER, ...CHAIN],
  },
  {
    name: "an id of a shared object is compared without its first version",
    file: "src/sdk/announced-ids.ts",
    find: "if (text(pinned[name]) === text(announced[name])) continue;",
    replace: 'if (text(pinned[name]).split(" ")[0] === text(announced[name]).split(" ")[0]) continue;',
    tests: ATTACKER,
  },
  {
    name: "a fullnode of another chain is believed",
    file: "src/sdk/trusted-chain.ts",
    find: "findIndex((identifier) => identifier !== expected)",
    replace: 'findIndex((identifier) => identifier === "")',
    tests: [...CHAIN, ...ATTACKER],
  },
  {
    name: "an object of another type is believed",
    file: "src/sdk/trusted-chain.ts",
    find: "if (!isRight(type))",
    replace: "if (type.length === 0)",
    tests: CHAIN,
  },
  {
    name: "an object's content is believed under another id",
    file: "src/sdk/trusted-chain.ts",
    find: "if (idIn(content) !== objectId) throw",
    replace: 'if (idIn(content) === "") throw',
    tests: CHAIN,
  },
  {
    name: "one of several fullnodes is believed alone",
    file: "src/sdk/trusted-chain.ts",
    find: "if (difference === undefined) return first;",
    replace: "if (difference !== null) return first;",
    tests: CHAIN,
  },
  {
    name: "a network key is believed that the coordinator does not have",
    file: "src/sdk/network-key-output.ts",
    find: "entry === undefined || key === undefined || tableEntryObjectId(entry) !== networkKeyId",
    replace: "key === undefined",
    tests: PARAMETERS,
  },
  {
    name: "a presign is used that is not the chain's",
    file: "src/sdk/check-presign.ts",
    find: "if (!equalBytes(session.state.output, presign)) throw",
    replace: "if (presign.length === 0) throw",
    tests: PRESIGN,
  },
  {
    name: "a presign of another dWallet is used",
    file: "src/sdk/check-presign.ts",
    find: "(session.dwalletId === undefined || session.dwalletId === dwalletId)",
    replace: "true",
    tests: PRESIGN,
  },
  {
    name: "a presign makes two halves, which give the share away",
    file: "src/sdk/made-halves.ts",
    find: "if (known !== undefined)",
    replace: "if (known?.purpose === wanted)",
    tests: PRESIGN,
  },
];
