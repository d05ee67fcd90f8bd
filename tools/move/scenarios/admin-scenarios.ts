import type { Scenario, Step } from "../scenario.ts";
import { ceilings, OLD_VERSION, price, readyToSign, withIka } from "./common-steps.ts";

/** One call of each administrator function. */
const adminCalls: readonly (readonly [what: string, call: Step])[] = [
  ["create an operator", { do: "new operator" }],
  ["revoke an operator", { do: "revoke operator" }],
  ["set a ceiling", { do: "ceiling", op: "sign", amount: price }],
  ["pause the Treasury", { do: "pause", paused: true }],
  ["withdraw", { do: "drain nothing" }],
  ["renew an operator", { do: "renew operator" }],
  ["set the roles", { do: "set roles" }],
  ["offer the administration", { do: "offer admin", to: "stranger" }],
  ["withdraw an offer", { do: "withdraw admin offer" }],
  ["announce a release", { do: "announce release" }],
  ["withdraw a release", { do: "withdraw release" }],
  ["release a dWallet", { do: "release dwallet" }],
  ["release a presign", { do: "release presign" }],
  ["announce a successor", { do: "announce successor" }],
  ["withdraw a successor", { do: "withdraw successor" }],
  ["move a dWallet", { do: "move dwallet" }],
  ["move a presign", { do: "move presign" }],
  ["take a dWallet in", { do: "take in dwallet" }],
  ["take a presign in", { do: "take in presign" }],
];
/** The administrator's rights: ceilings, funds, presigns and migrations. */
export const ADMIN_SCENARIOS: readonly Scenario[] = [
  ...adminCalls.map(
    ([what, call]): Scenario => ({
      name: `The administrator of another Treasury may not ${what}`,
      steps: [{ do: "dkg" }, { do: "presigns" }, { ...call, admin: "foreign" } as Step],
      fails: "roles 1",
    }),
  ),
  ...adminCalls.map(
    ([what, call]): Scenario => ({
      name: `In a Treasury of another version, the administrator may not ${what}`,
      steps: [{ do: "dkg" }, { do: "presigns" }, { do: "treasury version", version: OLD_VERSION }, call],
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
    name: "A migrated Treasury works with the new package",
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
    fails: "treasury 7",
  },
  {
    name: "A Treasury of a newer version is not migrated back",
    steps: [{ do: "treasury version", version: 2 }, { do: "migrate" }],
    fails: "treasury 7",
  },
  {
    name: "The administrator of another Treasury may not migrate",
    steps: [
      { do: "treasury version", version: OLD_VERSION },
      { do: "migrate", admin: "foreign" },
    ],
    fails: "roles 1",
  },
  {
    name: "A released presign cannot sign",
    steps: [...readyToSign, { do: "release presign" }, { do: "sign" }],
    fails: "custody 2",
  },
  {
    name: "An incomplete presign can be released, but only once",
    steps: [{ do: "presigns" }, { do: "release presign" }, { do: "release presign" }],
    fails: "custody 2",
  },
  {
    name: "More IKA than the balance cannot be withdrawn",
    steps: [{ do: "overdraw", coin: "ika" }],
    fails: "treasury 5",
  },
  {
    name: "More SUI than the balance cannot be withdrawn",
    steps: [{ do: "overdraw", coin: "sui" }],
    fails: "treasury 5",
  },
  {
    name: "Anybody's deposit can be spent",
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
