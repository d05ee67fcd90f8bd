import type { Scenario, Step } from "../scenario.ts";
import { ceilings, OLD_VERSION, readyToSign, readyToSignImported, toStranger } from "./common-steps.ts";

const leaves: readonly Step[] = [{ do: "import" }, { do: "leave" }];
const isReleased: readonly Step[] = [
  { do: "import" },
  { do: "announce release" },
  { do: "epochs pass", count: 14 },
  { do: "release dwallet" },
];
const hasMoved: readonly Step[] = [
  { do: "import" },
  { do: "announce successor" },
  { do: "epochs pass", count: 14 },
  { do: "move dwallet" },
];

/** Imported keys: their payments, what Ika refuses, and how their capabilities leave. */
export const IMPORT_SCENARIOS: readonly Scenario[] = [
  {
    name: "An import, a presign of its dWallet and a signature cost their price, and the events say so",
    steps: [...readyToSignImported, { do: "sign with imported key" }],
  },
  { name: "A batch has at most a hundred presigns of one dWallet", steps: batchOf(100) },
  { name: "A batch of 101 presigns of one dWallet is refused", steps: batchOf(101), fails: "treasury 6" },
  { name: "An empty batch of presigns of one dWallet is refused", steps: batchOf(0), fails: "treasury 6" },
  {
    name: "A batch counts the ceiling once for each presign of a dWallet",
    steps: [
      { do: "import" },
      { do: "activate dwallet" },
      { do: "keep", op: "presign", amount: { ika: { prices: 3 }, sui: { prices: 3 } } },
      { do: "dwallet presigns", count: 3 },
    ],
  },
  {
    name: "Without a ceiling for its curve, an import is refused",
    steps: [{ do: "import", curve: 7 }],
    fails: "treasury 4",
  },
  {
    name: "An import counts against the operator's limit on DKGs",
    steps: [
      { do: "new operator", limits: { dkgs: { prices: 2 } } },
      { do: "dkg" },
      { do: "import" },
      { do: "import" },
    ],
    fails: "operators 4",
  },
  {
    name: "Presigns of one dWallet count against the operator's limit on presigns",
    steps: [
      { do: "import" },
      { do: "activate dwallet" },
      { do: "new operator", limits: { presigns: { prices: 3 } } },
      { do: "presigns" },
      { do: "dwallet presigns", count: 3 },
    ],
    fails: "operators 4",
  },
  {
    name: "A signature of an imported key counts against the operator's limit on signatures",
    steps: [
      ...readyToSignImported,
      { do: "new operator", limits: { signs: { prices: 0 } } },
      { do: "sign with imported key" },
    ],
    fails: "operators 4",
  },

  {
    name: "An import needs a registered encryption key",
    steps: [{ do: "import", userKey: "none" }],
    fails: "dynamic_field 1",
  },
  {
    name: "An import needs a curve that Ika supports",
    steps: [...ceilings(9, 0, ["import"]), { do: "import", curve: 9 }],
    fails: "support_config 2",
  },
  {
    name: "An import needs a network key that Ika has",
    steps: [{ do: "import", networkKey: "unknown" }],
    fails: "coordinator_inner 5",
  },
  {
    name: "A key that its user has not accepted gets no presigns",
    steps: [{ do: "import" }, { do: "dwallet presigns" }],
    fails: "coordinator_inner 2",
  },
  {
    name: "A dWallet of a DKG gets no presigns that only it can use",
    steps: [{ do: "dkg" }, { do: "activate dwallet" }, { do: "dwallet presigns" }],
    fails: "coordinator_inner 31",
  },
  {
    name: "A dWallet that the Treasury does not hold gets no presigns",
    steps: [{ do: "dwallet presigns", dwallet: "unknown" }],
    fails: "custody 1",
  },
  {
    name: "An imported key makes no ECDSA signature with a global presign",
    steps: [
      { do: "import" },
      { do: "activate dwallet" },
      { do: "presigns" },
      { do: "complete presign" },
      { do: "sign with imported key" },
    ],
    fails: "coordinator_inner 32",
  },
  {
    name: "An imported key signs with a global presign by another algorithm",
    steps: [
      { do: "import" },
      { do: "activate dwallet" },
      ...ceilings(0, 1),
      { do: "presigns", algorithm: 1 },
      { do: "complete presign" },
      { do: "sign with imported key", algorithm: 1 },
    ],
  },
  {
    name: "A presign of one imported key signs for no other one",
    steps: [
      ...readyToSignImported,
      { do: "import" },
      { do: "activate dwallet" },
      { do: "sign with imported key" },
    ],
    fails: "coordinator_inner 32",
  },
  {
    name: "A dWallet of a DKG does not sign with a presign of an imported key",
    steps: [...readyToSignImported, { do: "dkg" }, { do: "activate dwallet" }, { do: "sign" }],
    fails: "coordinator_inner 31",
  },
  {
    name: "An imported key does not sign as a dWallet of a DKG",
    steps: [...readyToSignImported, { do: "sign" }],
    fails: "custody 12",
  },
  {
    name: "A dWallet of a DKG does not sign as an imported key",
    steps: [...readyToSign, { do: "sign with imported key" }],
    fails: "custody 12",
  },
  {
    name: "The Treasury signs with no imported key that it does not hold",
    steps: [...readyToSignImported, { do: "sign with imported key", dwallet: "unknown" }],
    fails: "custody 1",
  },
  {
    name: "An imported key signs below the ceiling of its curve",
    steps: [...readyToSignImported, ...ceilings(2), { do: "sign with imported key", curve: 2 }],
    fails: "treasury 8",
  },
  {
    name: "A presign of an imported key signs only once",
    steps: [...readyToSignImported, { do: "sign with imported key" }, { do: "sign with imported key" }],
    fails: "custody 2",
  },
  {
    name: "An imported key signs only with hashes of its algorithm",
    steps: [...readyToSignImported, { do: "sign with imported key", hash: 9 }],
    fails: "support_config 1",
  },

  { name: "The owner of an imported key leaves with it", steps: leaves },
  {
    name: "Anybody can submit a consent that the owner of an imported key has signed",
    steps: [{ do: "import" }, toStranger, { do: "leave" }],
  },
  {
    name: "The owner of an imported key leaves while the Treasury is paused",
    steps: [{ do: "import" }, { do: "pause", paused: true }, { do: "leave" }],
  },
  {
    name: "The owner of a second dWallet leaves with it if it is an imported key",
    steps: [{ do: "dkg" }, ...leaves],
  },
  {
    name: "An imported key leaves only with its owner's signature",
    steps: [{ do: "import" }, { do: "leave", flaw: "of another key" }],
    fails: "custody 7",
  },
  { name: "An imported key leaves only once", steps: [...leaves, { do: "leave" }], fails: "custody 1" },
  {
    name: "An imported key that has left cannot sign",
    steps: [...readyToSignImported, { do: "leave" }, { do: "sign with imported key" }],
    fails: "custody 1",
  },
  {
    name: "An imported key that has left gets no presigns",
    steps: [...readyToSignImported, { do: "leave" }, { do: "dwallet presigns" }],
    fails: "custody 1",
  },
  {
    name: "The administrator releases an imported key fourteen epochs after the announcement",
    steps: isReleased,
  },
  {
    name: "The administrator releases no imported key before fourteen epochs have passed",
    steps: [
      { do: "import" },
      { do: "announce release" },
      { do: "epochs pass", count: 13 },
      { do: "release dwallet" },
    ],
    fails: "custody 6",
  },
  {
    name: "An imported key whose owner refuses is not announced for release",
    steps: [{ do: "import" }, { do: "refuse release" }, { do: "announce release" }],
    fails: "custody 3",
  },
  {
    name: "An imported key moves to the successor fourteen epochs after the announcement",
    steps: hasMoved,
  },
  {
    name: "An imported key whose owner refuses does not move",
    steps: [
      { do: "import" },
      { do: "announce successor" },
      { do: "refuse release" },
      { do: "epochs pass", count: 14 },
      { do: "move dwallet" },
    ],
    fails: "custody 3",
  },
  {
    name: "An imported key that is taken in again signs",
    steps: [
      ...readyToSignImported,
      { do: "leave" },
      { do: "take in imported key" },
      { do: "sign with imported key" },
    ],
  },
  {
    name: "Only this Treasury's administrator takes in an imported key",
    steps: [...leaves, { do: "take in imported key", admin: "foreign" }],
    fails: "roles 1",
  },
  {
    name: "A Treasury of another version takes in no imported key",
    steps: [...leaves, { do: "treasury version", version: OLD_VERSION }, { do: "take in imported key" }],
    fails: "treasury 1",
  },
  {
    name: "A consent is not valid again when the imported key is taken in again",
    steps: [...leaves, { do: "take in imported key" }, { do: "leave" }],
    fails: "custody 9",
  },
];

function batchOf(count: number): Step[] {
  return [{ do: "import" }, { do: "activate dwallet" }, { do: "dwallet presigns", count }];
}
