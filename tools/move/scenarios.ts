import type { Amount, Operation, Scenario, Step } from "./scenario.ts";

const price: Amount = { ika: { prices: 1 }, sui: { prices: 1 } };
const withIka = (plus: number): Amount => ({ ...price, ika: { prices: 1, plus } });
const withSui = (plus: number): Amount => ({ ...price, sui: { prices: 1, plus } });
const ample: Amount = { ika: { prices: 1, plus: 7 }, sui: { prices: 1, plus: 3 } };
const ceilings = (curve: number, algorithm = 0, ops: readonly Operation[] = ["presign", "sign"]): Step[] =>
  ops.map((op) => ({ do: "ceiling", op, curve, algorithm, amount: price }));

/** A dWallet that can sign, and a presign for it. */
const readyToSign: readonly Step[] = [
  { do: "dkg" },
  { do: "activate dwallet" },
  { do: "presigns" },
  { do: "complete presign" },
];
/** One call of each function that pays, from a state in which each would succeed. */
const payments: readonly { readonly op: Operation; readonly thing: string; readonly call: Step }[] = [
  { op: "dkg", thing: "DKG", call: { do: "dkg" } },
  { op: "presign", thing: "presign", call: { do: "presigns" } },
  { op: "sign", thing: "signature", call: { do: "sign" } },
];
/** One call of each function of the administrator. */
const adminCalls: readonly (readonly [what: string, call: Step])[] = [
  ["create an operator", { do: "new operator" }],
  ["revoke an operator", { do: "revoke operator" }],
  ["set a ceiling", { do: "ceiling", op: "sign", amount: price }],
  ["pause the Treasury", { do: "pause", paused: true }],
  ["withdraw", { do: "drain nothing" }],
  ["release a dWallet", { do: "release dwallet" }],
  ["release a presign", { do: "release presign", presign: "unknown" }],
];
/** A version of the package before this one. */
const OLD_VERSION = 0;

/**
 * What the Treasury does, for the Move package and for the localnet's model. A Treasury starts with ample funds, one
 * operator, and ceilings of exactly the network's price for the curve 0 and the algorithm 0. The scenarios name every
 * function that changes something, and every abort code.
 */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "A DKG, a presign and a signature cost their price, and the events say so",
    steps: [...readyToSign, { do: "sign" }],
  },
  { name: "A batch has at most a hundred presigns", steps: [{ do: "presigns", count: 100 }] },
  { name: "A batch of more is refused", steps: [{ do: "presigns", count: 101 }], fails: "treasury 9" },
  { name: "A batch of none is refused", steps: [{ do: "presigns", count: 0 }], fails: "treasury 9" },
  {
    name: "A batch counts the ceiling once for each presign",
    steps: [
      { do: "keep", op: "presign", amount: { ika: { prices: 3 }, sui: { prices: 3 } } },
      { do: "presigns", count: 3 },
    ],
  },
  {
    name: "A batch that costs more than there is is refused",
    steps: [
      { do: "keep", op: "presign", amount: { ika: { prices: 3, plus: -1 }, sui: { prices: 3 } } },
      { do: "presigns", count: 3 },
    ],
    fails: "sessions_manager 1",
  },

  ...payments.flatMap(({ op, thing, call }): Scenario[] => [
    {
      name: `While paused, the Treasury pays for no ${thing}`,
      steps: [...readyToSign, { do: "pause", paused: true }, call],
      fails: "treasury 2",
    },
    {
      name: `Resumed, the Treasury pays for a ${thing} again`,
      steps: [...readyToSign, { do: "pause", paused: true }, { do: "pause", paused: false }, call],
    },
    {
      name: `A revoked operator pays for no ${thing}`,
      steps: [...readyToSign, { do: "revoke operator" }, call],
      fails: "treasury 3",
    },
    {
      name: `The operator of another Treasury pays for no ${thing}`,
      steps: [...readyToSign, { ...call, cap: "foreign" } as Step],
      fails: "treasury 3",
    },
    {
      name: `A Treasury of another version pays for no ${thing}`,
      steps: [...readyToSign, { do: "treasury version", version: 2 }, call],
      fails: "treasury 1",
    },
    {
      name: `After Ika has moved its coordinator, the old package pays for no ${thing}`,
      steps: [...readyToSign, { do: "coordinator moves" }, call],
      fails: "coordinator 0",
    },
    {
      name: `A session identifier serves one ${thing} only`,
      steps: [...readyToSign, { ...call, sessions: "repeated" } as Step],
      fails: "sessions_manager 3",
    },
    {
      name: `A short session identifier serves no ${thing}`,
      steps: [...readyToSign, { ...call, sessions: "short" } as Step],
      fails: "sessions_manager 5",
    },
    {
      name: `A price of one IKA unit above the ceiling refuses the ${thing}`,
      steps: [...readyToSign, { do: "ceiling", op, amount: withIka(-1) }, call],
      fails: "sessions_manager 1",
    },
    {
      name: `A price of one SUI unit above the ceiling refuses the ${thing}`,
      steps: [...readyToSign, { do: "ceiling", op, amount: withSui(-1) }, call],
      fails: "sessions_manager 2",
    },
    {
      name: `A ceiling above the price of the ${thing} costs the price`,
      steps: [...readyToSign, { do: "ceiling", op, amount: ample }, call],
    },
    {
      name: `One IKA unit too little in the Treasury refuses the ${thing}`,
      steps: [...readyToSign, { do: "keep", op, amount: withIka(-1) }, call],
      fails: "sessions_manager 1",
    },
    {
      name: `One SUI unit too little in the Treasury refuses the ${thing}`,
      steps: [...readyToSign, { do: "keep", op, amount: withSui(-1) }, call],
      fails: "sessions_manager 2",
    },
    {
      name: `The Treasury pays for the ${thing} with its last unit, whatever the ceiling`,
      steps: [...readyToSign, { do: "ceiling", op, amount: ample }, { do: "keep", op, amount: price }, call],
    },
  ]),
  {
    name: "A session identifier serves once in one batch",
    steps: [{ do: "presigns", count: 2, sessions: "repeated" }],
    fails: "sessions_manager 3",
  },
  {
    name: "A second operator pays when the first is revoked",
    steps: [{ do: "revoke operator" }, { do: "new operator" }, { do: "presigns" }],
  },
  {
    name: "An operator is revoked once",
    steps: [{ do: "revoke operator" }, { do: "revoke operator" }],
    fails: "treasury 10",
  },
  {
    name: "An unknown operator is not revoked",
    steps: [{ do: "revoke operator", operator: "unknown" }],
    fails: "treasury 10",
  },

  {
    name: "The greatest ceiling bounds nothing, and costs the price",
    steps: [
      { do: "ceiling", op: "presign", amount: { ika: "greatest", sui: "greatest" } },
      { do: "presigns", count: 2 },
    ],
  },
  {
    name: "Without a ceiling for its curve, a DKG is refused",
    steps: [{ do: "dkg", curve: 7 }],
    fails: "treasury 5",
  },
  {
    name: "Without a ceiling for its algorithm, a presign is refused",
    steps: [{ do: "presigns", algorithm: 7 }],
    fails: "treasury 5",
  },
  {
    name: "Without a ceiling for its algorithm, a signature is refused",
    steps: [...readyToSign, { do: "sign", algorithm: 7 }],
    fails: "treasury 5",
  },

  {
    name: "A dWallet needs a registered encryption key",
    steps: [{ do: "dkg", keyCurve: "none" }],
    fails: "dynamic_field 1",
  },
  {
    name: "A dWallet is of the curve of its encryption key",
    steps: [{ do: "dkg", keyCurve: 2 }],
    fails: "coordinator_inner 17",
  },
  {
    name: "A dWallet is of a curve that Ika supports",
    steps: [...ceilings(9, 0, ["dkg"]), { do: "dkg", curve: 9, keyCurve: "none" }],
    fails: "support_config 2",
  },
  {
    name: "A dWallet is of a network key that Ika has",
    steps: [{ do: "dkg", networkKey: "unknown" }],
    fails: "coordinator_inner 5",
  },
  {
    name: "While Ika pauses a curve, no dWallet is made of it",
    steps: [
      { do: "pause curve", curve: 0 },
      { do: "dkg", keyCurve: "none" },
    ],
    fails: "support_config 4",
  },
  {
    name: "A presign is of a curve that Ika supports",
    steps: [...ceilings(9), { do: "presigns", curve: 9 }],
    fails: "support_config 2",
  },
  {
    name: "A presign is of an algorithm that its curve has",
    steps: [...ceilings(0, 7), { do: "presigns", algorithm: 7 }],
    fails: "support_config 3",
  },
  {
    name: "A presign is of a network key that Ika has",
    steps: [{ do: "presigns", networkKey: "unknown" }],
    fails: "coordinator_inner 5",
  },
  {
    name: "An unknown network key is told after an unsupported curve",
    steps: [...ceilings(9), { do: "presigns", curve: 9, networkKey: "unknown" }],
    fails: "support_config 2",
  },

  {
    name: "The Treasury signs with no dWallet that it does not hold",
    steps: [...readyToSign, { do: "sign", dwallet: "unknown" }],
    fails: "treasury 6",
  },
  {
    name: "The Treasury signs with no presign that it does not hold",
    steps: [...readyToSign, { do: "sign", presign: "unknown" }],
    fails: "treasury 7",
  },
  {
    name: "A presign signs once",
    steps: [...readyToSign, { do: "sign" }, { do: "sign" }],
    fails: "treasury 7",
  },
  {
    name: "A presign signs only when the network has made it",
    steps: [{ do: "dkg" }, { do: "activate dwallet" }, { do: "presigns" }, { do: "sign" }],
    fails: "coordinator_inner 11",
  },
  {
    name: "A dWallet signs only when its user has accepted it",
    steps: [{ do: "dkg" }, { do: "presigns" }, { do: "complete presign" }, { do: "sign" }],
    fails: "coordinator_inner 2",
  },
  {
    name: "A dWallet signs only with hashes of its algorithm",
    steps: [...readyToSign, { do: "sign", hash: 9 }],
    fails: "support_config 1",
  },
  {
    name: "A dWallet signs only with presigns of its curve",
    steps: [
      { do: "dkg" },
      { do: "activate dwallet" },
      ...ceilings(2),
      { do: "presigns", curve: 2 },
      { do: "complete presign" },
      { do: "sign" },
    ],
    fails: "coordinator_inner 1",
  },
  {
    name: "A signature is paid below the ceiling of its dWallet's curve",
    steps: [...readyToSign, ...ceilings(2), { do: "sign", curve: 2 }],
    fails: "treasury 12",
  },
  {
    name: "A dWallet signs only with presigns of the algorithm",
    steps: [...readyToSign, ...ceilings(0, 1), { do: "sign", algorithm: 1 }],
    fails: "coordinator_inner 7",
  },

  ...adminCalls.map(
    ([what, call]): Scenario => ({
      name: `The administrator of another Treasury may not ${what}`,
      steps: [{ do: "dkg" }, { ...call, admin: "foreign" } as Step],
      fails: "treasury 4",
    }),
  ),
  ...adminCalls.map(
    ([what, call]): Scenario => ({
      name: `In a Treasury of another version, the administrator may not ${what}`,
      steps: [{ do: "dkg" }, { do: "treasury version", version: OLD_VERSION }, call],
      fails: "treasury 1",
    }),
  ),
  {
    name: "A Treasury of another version takes no deposit",
    steps: [
      { do: "treasury version", version: OLD_VERSION },
      { do: "deposit", amount: price },
    ],
    fails: "treasury 1",
  },
  {
    name: "A migrated Treasury serves the new package",
    steps: [
      ...readyToSign,
      { do: "treasury version", version: OLD_VERSION },
      { do: "migrate" },
      { do: "sign" },
    ],
  },
  {
    name: "A Treasury of this version is not migrated",
    steps: [{ do: "migrate" }],
    fails: "treasury 11",
  },
  {
    name: "A Treasury of a newer version is not migrated back",
    steps: [{ do: "treasury version", version: 2 }, { do: "migrate" }],
    fails: "treasury 11",
  },
  {
    name: "The administrator of another Treasury may not migrate",
    steps: [
      { do: "treasury version", version: OLD_VERSION },
      { do: "migrate", admin: "foreign" },
    ],
    fails: "treasury 4",
  },
  {
    name: "A released dWallet signs no more",
    steps: [...readyToSign, { do: "release dwallet" }, { do: "sign" }],
    fails: "treasury 6",
  },
  {
    name: "A released presign signs no more",
    steps: [...readyToSign, { do: "release presign" }, { do: "sign" }],
    fails: "treasury 7",
  },
  {
    name: "A presign that the network has not made can be released, once",
    steps: [{ do: "presigns" }, { do: "release presign" }, { do: "release presign" }],
    fails: "treasury 7",
  },
  {
    name: "A dWallet is released once",
    steps: [{ do: "dkg" }, { do: "release dwallet" }, { do: "release dwallet" }],
    fails: "treasury 6",
  },
  {
    name: "More IKA than there is cannot be withdrawn",
    steps: [{ do: "overdraw", coin: "ika" }],
    fails: "treasury 8",
  },
  {
    name: "More SUI than there is cannot be withdrawn",
    steps: [{ do: "overdraw", coin: "sui" }],
    fails: "treasury 8",
  },
  {
    name: "What anyone deposits can be spent",
    steps: [
      { do: "keep", op: "presign", amount: { ika: { prices: 0 }, sui: { prices: 0 } } },
      { do: "deposit", amount: price },
      { do: "presigns" },
    ],
  },
  {
    name: "A new ceiling replaces the old one",
    steps: [
      ...ceilings(0, 0, ["presign"]),
      { do: "ceiling", op: "presign", amount: withIka(-1) },
      { do: "presigns" },
    ],
    fails: "sessions_manager 1",
  },
];
