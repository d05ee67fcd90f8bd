import type { Consented, Scenario } from "../scenario.ts";
import { OLD_VERSION, readyToSign, toStranger } from "./common-steps.ts";

/** Every way in which a consent may differ from what its owner signed. */
const flaws: readonly NonNullable<Consented["flaw"]>[] = [
  "of another key",
  "for another recipient",
  "for another Treasury",
  "for another chain",
  "for another action",
  "with another nonce",
  "with another expiry",
  "of another dWallet",
  "short",
];
/** The decisions of a dWallet's owner. */
export const CONSENT_SCENARIOS: readonly Scenario[] = [
  { name: "The owner of a dWallet leaves with it", steps: [{ do: "dkg" }, { do: "leave" }] },
  {
    name: "Anybody can submit a consent that the owner of a dWallet has signed",
    steps: [{ do: "dkg" }, toStranger, { do: "leave" }],
  },
  {
    name: "The owner of a dWallet leaves while the Treasury is paused",
    steps: [{ do: "dkg" }, { do: "pause", paused: true }, { do: "leave" }],
  },
  {
    name: "The owner of a dWallet leaves when the administrator has announced its release",
    steps: [{ do: "dkg" }, { do: "announce release" }, { do: "leave" }],
  },
  {
    name: "The owner of a second dWallet leaves with it",
    steps: [{ do: "dkg" }, { do: "dkg" }, { do: "leave" }],
  },
  {
    name: "A dWallet that has left cannot sign",
    steps: [...readyToSign, { do: "leave" }, { do: "sign" }],
    fails: "custody 1",
  },
  {
    name: "A dWallet leaves only once",
    steps: [{ do: "dkg" }, { do: "leave" }, { do: "leave" }],
    fails: "custody 1",
  },
  {
    name: "A dWallet that the Treasury does not hold cannot leave",
    steps: [{ do: "leave", dwallet: "unknown" }],
    fails: "custody 1",
  },
  {
    name: "In a Treasury of another version, a dWallet does not leave",
    steps: [{ do: "dkg" }, { do: "treasury version", version: OLD_VERSION }, { do: "leave" }],
    fails: "treasury 1",
  },
  {
    name: "A consent is valid in its last epoch",
    steps: [{ do: "dkg" }, { do: "epochs pass", count: 2 }, { do: "leave", expiresEpoch: 2 }],
  },
  {
    name: "An expired consent is refused",
    steps: [{ do: "dkg" }, { do: "epochs pass", count: 3 }, { do: "leave", expiresEpoch: 2 }],
    fails: "custody 8",
  },
  ...flaws.map(
    (flaw): Scenario => ({
      name: `A dWallet does not leave by a signature that is ${flaw}`,
      steps: [{ do: "dkg" }, { do: "leave", flaw }],
      fails: "custody 7",
    }),
  ),
  ...flaws
    .filter((flaw) => flaw !== "for another recipient" && flaw !== "for another action")
    .map(
      (flaw): Scenario => ({
        name: `A release is not refused by a signature that is ${flaw}`,
        steps: [{ do: "dkg" }, { do: "refuse release", flaw }],
        fails: "custody 7",
      }),
    ),
  {
    name: "A consent with a later nonce is refused",
    steps: [{ do: "dkg" }, { do: "leave", nonce: 1 }],
    fails: "custody 9",
  },
  {
    name: "A consent is valid only once",
    steps: [{ do: "dkg" }, { do: "refuse release" }, { do: "refuse release" }],
    fails: "custody 9",
  },
  {
    name: "The next consent follows the first one",
    steps: [{ do: "dkg" }, { do: "refuse release" }, { do: "leave", nonce: 1 }],
  },
  {
    name: "A used consent stays used when the dWallet comes back",
    steps: [{ do: "dkg" }, { do: "leave" }, { do: "take in dwallet" }, { do: "leave" }],
    fails: "custody 9",
  },
  {
    name: "A dWallet that came back leaves again",
    steps: [{ do: "dkg" }, { do: "leave" }, { do: "take in dwallet" }, { do: "leave", nonce: 1 }],
  },
  {
    name: "A dWallet that came back signs again",
    steps: [...readyToSign, { do: "leave" }, { do: "take in dwallet" }, { do: "sign" }],
  },
  {
    name: "A dWallet that the Treasury holds is not taken in",
    steps: [{ do: "dkg" }, { do: "take in dwallet" }],
    fails: "dynamic_field 0",
  },
  {
    name: "A refusal ends when the dWallet leaves",
    steps: [
      { do: "dkg" },
      { do: "refuse release" },
      { do: "leave", nonce: 1 },
      { do: "take in dwallet" },
      { do: "announce release" },
    ],
  },
  {
    name: "A presign that came back signs",
    steps: [...readyToSign, { do: "release presign" }, { do: "take in presign" }, { do: "sign" }],
  },
];
