import type { Scenario, Step } from "../scenario.ts";
import { ceilings, readyHalf, readyHalfImported, readyToSign, readyToSignImported } from "./common-steps.ts";

const sign: Step = { do: "partial sign" };

/** Halves of signatures that the Treasury keeps and completes later. */
export const HALF_SCENARIOS: readonly Scenario[] = [
  {
    name: "A half and its signature cost their prices, and the events say so",
    steps: [...readyHalf, sign],
  },
  {
    name: "A half of an imported key and its signature cost their prices",
    steps: [...readyHalfImported, sign],
  },
  {
    name: "A half becomes a signature in its last epoch",
    steps: [...readyHalf, { do: "epochs pass", count: 2 }, sign],
  },
  {
    name: "A half becomes no signature after its last epoch",
    steps: [...readyHalf, { do: "epochs pass", count: 3 }, sign],
    fails: "custody 13",
  },
  {
    name: "A half is kept for 31 epochs at most",
    steps: [...readyToSign, { do: "future sign", epochs: 31 }, { do: "complete half" }, sign],
  },
  {
    name: "A half for 32 epochs is refused",
    steps: [...readyToSign, { do: "future sign", epochs: 32 }],
    fails: "custody 15",
  },
  {
    name: "A half for no epoch is refused",
    steps: [...readyToSign, { do: "future sign", epochs: 0 }],
    fails: "custody 15",
  },
  {
    name: "A half becomes one signature",
    steps: [...readyHalf, sign, sign],
    fails: "custody 13",
  },
  {
    name: "A presign without a half becomes no signature of a half",
    steps: [...readyToSign, sign],
    fails: "custody 13",
  },
  {
    name: "A half uses its presign up",
    steps: [...readyHalf, { do: "sign" }],
    fails: "custody 2",
  },
  {
    name: "A presign belongs to one half",
    steps: [...readyHalf, { do: "future sign" }],
    fails: "custody 2",
  },
  {
    name: "A half becomes no signature before the network has verified it",
    steps: [...readyToSign, { do: "future sign" }, sign],
    fails: "coordinator_inner 11",
  },
  {
    name: "A half becomes a signature of its own message alone",
    steps: [...readyHalf, { do: "partial sign", message: "another" }],
    fails: "coordinator_inner 7",
  },
  {
    name: "A half of one dWallet becomes no signature of another",
    steps: [...readyHalf, { do: "dkg" }, { do: "activate dwallet" }, sign],
    fails: "custody 13",
  },
  {
    name: "The Treasury keeps no half of a dWallet that it does not hold",
    steps: [...readyToSign, { do: "future sign", dwallet: "unknown" }],
    fails: "custody 1",
  },
  {
    name: "The Treasury completes no half of a dWallet that it does not hold",
    steps: [...readyHalf, { do: "partial sign", dwallet: "unknown" }],
    fails: "custody 1",
  },
  {
    name: "A half is paid below the ceiling of its dWallet's curve",
    steps: [...readyToSign, ...ceilings(2, 0, ["future_sign"]), { do: "future sign", curve: 2 }],
    fails: "treasury 8",
  },
  {
    name: "The signature of a half is paid below the ceiling of its dWallet's curve",
    steps: [...readyHalf, ...ceilings(2, 0, ["partial_sign"]), { do: "partial sign", curve: 2 }],
    fails: "treasury 8",
  },
  {
    name: "Without a ceiling for its algorithm, a half is refused",
    steps: [...readyToSign, { do: "future sign", algorithm: 7 }],
    fails: "treasury 4",
  },
  {
    name: "Without a ceiling for its algorithm, the signature of a half is refused",
    steps: [...readyHalf, { do: "partial sign", algorithm: 7 }],
    fails: "treasury 4",
  },
  {
    name: "A half needs a dWallet that its user has accepted",
    steps: [{ do: "dkg" }, { do: "presigns" }, { do: "complete presign" }, { do: "future sign" }],
    fails: "coordinator_inner 2",
  },
  {
    name: "A half needs a presign that the network has made",
    steps: [{ do: "dkg" }, { do: "activate dwallet" }, { do: "presigns" }, { do: "future sign" }],
    fails: "coordinator_inner 11",
  },
  {
    name: "A half needs a hash of its algorithm",
    steps: [...readyToSign, { do: "future sign", hash: 9 }],
    fails: "support_config 1",
  },
  {
    name: "A half of an imported key's ECDSA needs a presign of that key",
    steps: [
      { do: "import" },
      { do: "activate dwallet" },
      { do: "presigns" },
      { do: "complete presign" },
      { do: "future sign" },
    ],
    fails: "coordinator_inner 32",
  },
  {
    name: "The signature of a half counts against the operator's limit on signatures",
    steps: [...readyHalf, { do: "new operator", limits: { signs: { prices: 0 } } }, sign],
    fails: "operators 4",
  },
  {
    name: "A dWallet has at most 64 halves",
    steps: [...readyToSign, { do: "halves", count: 64 }],
  },
  {
    name: "A dWallet gets no 65th half",
    steps: [...readyToSign, { do: "halves", count: 65 }],
    fails: "custody 14",
  },
  {
    name: "Halves whose last epoch has passed make room for others",
    steps: [
      ...readyToSign,
      { do: "halves", count: 64 },
      { do: "epochs pass", count: 3 },
      { do: "halves", count: 64 },
    ],
  },
  {
    name: "The owner leaves with a dWallet that has halves",
    steps: [...readyHalf, { do: "leave" }],
  },
  {
    name: "A half of a dWallet that has left becomes no signature",
    steps: [...readyHalf, { do: "leave" }, sign],
    fails: "custody 1",
  },
  {
    name: "A half of a dWallet that left and came back becomes no signature",
    steps: [...readyHalf, { do: "leave" }, { do: "take in dwallet" }, sign],
    fails: "custody 13",
  },
  {
    name: "A half of an imported key that left and came back becomes no signature",
    steps: [...readyHalfImported, { do: "leave" }, { do: "take in imported key" }, sign],
    fails: "custody 13",
  },
  {
    name: "A half of a dWallet that the administrator released and took in again becomes no signature",
    steps: [
      ...readyToSign,
      { do: "announce release" },
      { do: "future sign", epochs: 31 },
      { do: "complete half" },
      { do: "epochs pass", count: 14 },
      { do: "release dwallet" },
      { do: "take in dwallet" },
      sign,
    ],
    fails: "custody 13",
  },
  {
    name: "A dWallet that came back has halves again",
    steps: [
      ...readyToSignImported,
      { do: "leave" },
      { do: "take in imported key" },
      { do: "future sign" },
      { do: "complete half" },
      sign,
    ],
  },
];
