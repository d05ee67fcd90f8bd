import type { Amount, Operation, Scenario, Step } from "../scenario.ts";
import {
  price,
  readyHalf,
  readyHalfImported,
  readyToSign,
  readyToSignImported,
  withIka,
} from "./common-steps.ts";

const withSui = (plus: number): Amount => ({ ...price, sui: { prices: 1, plus } });
const ample: Amount = { ika: { prices: 1, plus: 7 }, sui: { prices: 1, plus: 3 } };
/** One call of each paying function, from a state in which each would succeed. */
const payments: readonly {
  readonly op: Operation;
  readonly thing: string;
  readonly ready: readonly Step[];
  readonly call: Step;
}[] = [
  { op: "dkg", thing: "DKG", ready: readyToSign, call: { do: "dkg" } },
  { op: "presign", thing: "presign", ready: readyToSign, call: { do: "presigns" } },
  { op: "sign", thing: "signature", ready: readyToSign, call: { do: "sign" } },
  { op: "share", thing: "share", ready: readyToSign, call: { do: "share" } },
  { op: "import", thing: "key import", ready: readyToSignImported, call: { do: "import" } },
  {
    op: "presign",
    thing: "presign of one dWallet",
    ready: readyToSignImported,
    call: { do: "dwallet presigns" },
  },
  {
    op: "sign",
    thing: "signature of an imported key",
    ready: readyToSignImported,
    call: { do: "sign with imported key" },
  },
  { op: "future_sign", thing: "half", ready: readyToSign, call: { do: "future sign" } },
  { op: "partial_sign", thing: "signature of a half", ready: readyHalf, call: { do: "partial sign" } },
  {
    op: "partial_sign",
    thing: "signature of a half of an imported key",
    ready: readyHalfImported,
    call: { do: "partial sign" },
  },
];
/** The cost of the operators' payments, and who may make them. */
export const PAYMENT_SCENARIOS: readonly Scenario[] = [
  {
    name: "A DKG, a presign, a signature and a share cost their price, and the events say so",
    steps: [...readyToSign, { do: "sign" }, { do: "share" }],
  },
  { name: "A batch has at most a hundred presigns", steps: [{ do: "presigns", count: 100 }] },
  { name: "A batch of 101 is refused", steps: [{ do: "presigns", count: 101 }], fails: "treasury 6" },
  { name: "An empty batch is refused", steps: [{ do: "presigns", count: 0 }], fails: "treasury 6" },
  {
    name: "A batch counts the ceiling once for each presign",
    steps: [
      { do: "keep", op: "presign", amount: { ika: { prices: 3 }, sui: { prices: 3 } } },
      { do: "presigns", count: 3 },
    ],
  },
  {
    name: "A batch that costs more than the balance is refused",
    steps: [
      { do: "keep", op: "presign", amount: { ika: { prices: 3, plus: -1 }, sui: { prices: 3 } } },
      { do: "presigns", count: 3 },
    ],
    fails: "sessions_manager 1",
  },

  ...payments.flatMap(({ op, thing, ready, call }): Scenario[] => [
    {
      name: `While paused, the Treasury pays for no ${thing}`,
      steps: [...ready, { do: "pause", paused: true }, call],
      fails: "treasury 2",
    },
    {
      name: `Resumed, the Treasury pays for a ${thing} again`,
      steps: [...ready, { do: "pause", paused: true }, { do: "pause", paused: false }, call],
    },
    {
      name: `A revoked operator pays for no ${thing}`,
      steps: [...ready, { do: "revoke operator" }, call],
      fails: "operators 1",
    },
    {
      name: `The operator of another Treasury pays for no ${thing}`,
      steps: [...ready, { ...call, cap: "foreign" } as Step],
      fails: "treasury 3",
    },
    {
      name: `A Treasury of another version pays for no ${thing}`,
      steps: [...ready, { do: "treasury version", version: 2 }, call],
      fails: "treasury 1",
    },
    {
      name: `After a new coordinator version, the old package pays for no ${thing}`,
      steps: [...ready, { do: "coordinator moves" }, call],
      fails: "coordinator 0",
    },
    {
      name: `A session identifier is used for only one ${thing}`,
      steps: [...ready, { ...call, sessions: "repeated" } as Step],
      fails: "sessions_manager 3",
    },
    {
      name: `A short session identifier is refused for a ${thing}`,
      steps: [...ready, { ...call, sessions: "short" } as Step],
      fails: "sessions_manager 5",
    },
    {
      name: `A price of one IKA unit above the ceiling refuses the ${thing}`,
      steps: [...ready, { do: "ceiling", op, amount: withIka(-1) }, call],
      fails: "sessions_manager 1",
    },
    {
      name: `A price of one SUI unit above the ceiling refuses the ${thing}`,
      steps: [...ready, { do: "ceiling", op, amount: withSui(-1) }, call],
      fails: "sessions_manager 2",
    },
    {
      name: `A ceiling above the price of the ${thing} costs the price`,
      steps: [...ready, { do: "ceiling", op, amount: ample }, call],
    },
    {
      name: `A balance that is one IKA unit too low refuses the ${thing}`,
      steps: [...ready, { do: "keep", op, amount: withIka(-1) }, call],
      fails: "sessions_manager 1",
    },
    {
      name: `A balance that is one SUI unit too low refuses the ${thing}`,
      steps: [...ready, { do: "keep", op, amount: withSui(-1) }, call],
      fails: "sessions_manager 2",
    },
    {
      name: `The Treasury pays for the ${thing} with its last unit, whatever the ceiling`,
      steps: [...ready, { do: "ceiling", op, amount: ample }, { do: "keep", op, amount: price }, call],
    },
  ]),
  {
    name: "A session identifier is used only once in a batch",
    steps: [{ do: "presigns", count: 2, sessions: "repeated" }],
    fails: "sessions_manager 3",
  },
  {
    name: "A second operator pays when the first is revoked",
    steps: [{ do: "revoke operator" }, { do: "new operator" }, { do: "presigns" }],
  },
  {
    name: "An operator is revoked only once",
    steps: [{ do: "revoke operator" }, { do: "revoke operator" }],
    fails: "operators 1",
  },
  {
    name: "An unknown operator is not revoked",
    steps: [{ do: "revoke operator", operator: "unknown" }],
    fails: "operators 1",
  },

  {
    name: "With the greatest ceiling, a payment costs the price",
    steps: [
      { do: "ceiling", op: "presign", amount: { ika: "greatest", sui: "greatest" } },
      { do: "presigns", count: 2 },
    ],
  },
  {
    name: "Without a ceiling for its curve, a DKG is refused",
    steps: [{ do: "dkg", curve: 7 }],
    fails: "treasury 4",
  },
  {
    name: "Without a ceiling for its algorithm, a presign is refused",
    steps: [{ do: "presigns", algorithm: 7 }],
    fails: "treasury 4",
  },
  {
    name: "Without a ceiling for its algorithm, a signature is refused",
    steps: [...readyToSign, { do: "sign", algorithm: 7 }],
    fails: "treasury 4",
  },
];
