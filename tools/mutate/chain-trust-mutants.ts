import type { Mutant } from "./mutant.ts";

const CHAIN = ["test/unit/client/sdk/trusted-chain.test.ts"];
const ATTACKER = ["test/component/client/sdk/attackers-chain.test.ts"];
const PARAMETERS = ["test/component/client/sdk/chain-parameters.test.ts"];
const PRESIGN = ["test/unit/client/sdk/presign.test.ts"];

/**
 * Lines that keep a client from trusting a chain, parameters or a presign on the word of the service or of one
 * fullnode.
 */
export const CHAIN_TRUST_MUTANTS: readonly Mutant[] = [
  {
    name: "the ids that the service names are not compared with the client's own",
    file: "src/client/sdk/chain/network.ts",
    find: "    if (pins !== undefined) checkAnnouncedIds(pins.ika, announcedIds(answer));\n",
    replace: "",
    tests: [...ATTACKER, ...CHAIN],
  },
  {
    name: "an id of a shared object is compared without its initial version",
    file: "src/client/sdk/chain/network.ts",
    find: "if (text(pinned[name]) === text(announced[name])) continue;",
    replace: 'if (text(pinned[name]).split(" ")[0] === text(announced[name]).split(" ")[0]) continue;',
    tests: ATTACKER,
  },
  {
    name: "a fullnode of another chain is trusted",
    file: "src/client/sdk/chain/trusted-chain.ts",
    find: "findIndex((identifier) => identifier !== expected)",
    replace: 'findIndex((identifier) => identifier === "")',
    tests: [...CHAIN, ...ATTACKER],
  },
  {
    name: "an object of another type is accepted",
    file: "src/client/sdk/chain/trusted-chain.ts",
    find: "if (!isRight(type))",
    replace: "if (type.length === 0)",
    tests: CHAIN,
  },
  {
    name: "an object's content is accepted under another id",
    file: "src/client/sdk/chain/trusted-chain.ts",
    find: "if (idIn(content) !== objectId) throw",
    replace: 'if (idIn(content) === "") throw',
    tests: CHAIN,
  },
  {
    name: "one of several fullnodes is trusted alone",
    file: "src/client/sdk/chain/trusted-chain.ts",
    find: "if (difference === undefined) return first;",
    replace: "if (difference !== null) return first;",
    tests: CHAIN,
  },
  {
    name: "a network key that the coordinator does not have is accepted",
    file: "src/client/sdk/chain/chain-parameters.ts",
    find: "entry === undefined || key === undefined || tableEntryObjectId(entry) !== networkKeyId",
    replace: "key === undefined",
    tests: PARAMETERS,
  },
  {
    name: "a presign that is not on the chain is used",
    file: "src/client/sdk/actions/signing/sign-within.ts",
    find: "if (!equalBytes(session.state.output, presign)) throw",
    replace: "if (presign.length === 0) throw",
    tests: PRESIGN,
  },
  {
    name: "a presign of another dWallet is used",
    file: "src/client/sdk/actions/signing/sign-within.ts",
    find: "(session.dwalletId === undefined || session.dwalletId === dwalletId)",
    replace: "true",
    tests: PRESIGN,
  },
  {
    name: "an engine with random halves makes two of them for one presign",
    file: "src/client/sdk/actions/signing/made-halves.ts",
    find: "if (known !== undefined)",
    replace: "if (known?.purpose === wanted)",
    tests: PRESIGN,
  },
  {
    name: "the highest epoch of several fullnodes is believed",
    file: "src/client/sdk/chain/trusted-chain.ts",
    find: "one.epoch < lowest.epoch",
    replace: "one.epoch > lowest.epoch",
    tests: CHAIN,
  },
  {
    name: "a half is reused for another dWallet",
    file: "src/client/sdk/actions/signing/made-halves.ts",
    find: "const names = [dwalletId, curve,",
    replace: "const names = [curve,",
    tests: PRESIGN,
  },
  {
    name: "a client refuses an honest service's presign after an expiry",
    file: "src/client/sdk/actions/signing/made-halves.ts",
    find: '(derivesRandomness ? wanted : "")',
    replace: '(derivesRandomness ? "" : "")',
    tests: PRESIGN,
  },
];
