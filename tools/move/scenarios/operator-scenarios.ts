import type { LimitKind, Scenario, Step, Units } from "../scenario.ts";
import { readyToSign, toStranger } from "./common-steps.ts";

/** One of each limit of an operator's epoch, and a call that counts against it. */
const limits: readonly { readonly kind: LimitKind; readonly what: string; readonly call: Step }[] = [
  { kind: "dkgs", what: "DKGs", call: { do: "dkg" } },
  { kind: "dkgs", what: "DKGs, also for a share", call: { do: "share" } },
  { kind: "presigns", what: "presigns", call: { do: "presigns" } },
  { kind: "signs", what: "signatures", call: { do: "sign" } },
  { kind: "signs", what: "signatures, also for a half", call: { do: "future sign" } },
  { kind: "ika", what: "IKA", call: { do: "presigns" } },
  { kind: "sui", what: "SUI", call: { do: "presigns" } },
];
const one: Units = { prices: 1 };
const none: Units = { prices: 0 };
const oneUnitShort: Units = { prices: 1, plus: -1 };
/** The limits of an operator: its address, its last epoch and its amounts. */
export const OPERATOR_SCENARIOS: readonly Scenario[] = [
  ...limits.flatMap(({ kind, what, call }): Scenario[] => [
    {
      name: `An operator spends its limit of ${what}`,
      steps: [
        ...readyToSign,
        { do: "renew operator", limits: { [kind]: one } },
        { do: "epochs pass", count: 1 },
        call,
      ],
    },
    {
      name: `An operator spends no more than its limit of ${what}`,
      steps: [
        ...readyToSign,
        { do: "renew operator", limits: { [kind]: kind === "ika" || kind === "sui" ? oneUnitShort : none } },
        { do: "epochs pass", count: 1 },
        call,
      ],
      fails: "operators 4",
    },
    {
      name: `Spending before the limit of ${what} was set counts in the same epoch`,
      steps: [
        { do: "dkg" },
        { do: "activate dwallet" },
        { do: "presigns" },
        { do: "presigns" },
        { do: "complete presign" },
        ...(kind === "signs"
          ? [{ do: "sign" } as const, { do: "presigns" } as const, { do: "complete presign" } as const]
          : []),
        { do: "renew operator", limits: { [kind]: one } },
        call,
      ],
      fails: "operators 4",
    },
  ]),
  {
    name: "An operator's limits are for one epoch each",
    steps: [
      { do: "renew operator", limits: { presigns: one } },
      { do: "presigns" },
      { do: "epochs pass", count: 1 },
      { do: "presigns" },
    ],
  },
  {
    name: "A second payment in the epoch also counts",
    steps: [{ do: "renew operator", limits: { presigns: one } }, { do: "presigns" }, { do: "presigns" }],
    fails: "operators 4",
  },
  {
    name: "A batch counts once for each presign against the operator's limit",
    steps: [
      { do: "renew operator", limits: { presigns: { prices: 2 } } },
      { do: "presigns", count: 3 },
    ],
    fails: "operators 4",
  },
  {
    name: "An operator's limit of one kind does not bound another",
    steps: [{ do: "renew operator", limits: { dkgs: none, signs: none } }, { do: "presigns" }],
  },
  {
    name: "One operator's spending does not count for another",
    steps: [
      { do: "renew operator", limits: { presigns: one } },
      { do: "presigns" },
      { do: "new operator", limits: { presigns: one } },
      { do: "presigns" },
    ],
  },
  {
    name: "An operator pays in its last epoch",
    steps: [{ do: "renew operator", expiresEpoch: 3 }, { do: "epochs pass", count: 3 }, { do: "presigns" }],
  },
  {
    name: "An expired operator pays for nothing",
    steps: [{ do: "renew operator", expiresEpoch: 3 }, { do: "epochs pass", count: 4 }, { do: "presigns" }],
    fails: "operators 3",
  },
  {
    name: "A renewed operator pays again",
    steps: [
      { do: "renew operator", expiresEpoch: 0 },
      { do: "epochs pass", count: 1 },
      { do: "renew operator", expiresEpoch: 1 },
      { do: "presigns" },
    ],
  },
  {
    name: "An unknown operator is not renewed",
    steps: [{ do: "renew operator", operator: "unknown" }],
    fails: "operators 1",
  },
  {
    name: "Only its holder pays with an OperatorCap",
    steps: [{ do: "new operator", holder: "stranger" }, { do: "presigns" }],
    fails: "operators 2",
  },
  {
    name: "The holder of an OperatorCap pays with it",
    steps: [{ do: "new operator", holder: "stranger" }, toStranger, { do: "presigns" }],
  },
  {
    name: "A Treasury can have sixty-four operators",
    steps: Array.from({ length: 63 }, (): Step => ({ do: "new operator" })),
  },
  {
    name: "A Treasury cannot have more than sixty-four operators",
    steps: Array.from({ length: 64 }, (): Step => ({ do: "new operator" })),
    fails: "operators 5",
  },
];
