import type { Scenario } from "../scenario.ts";
import { ceilings, readyToSign } from "./common-steps.ts";

/** The refusals of Ika's coordinator, as callers of the Treasury see them. */
export const IKA_SCENARIOS: readonly Scenario[] = [
  {
    name: "A dWallet needs a registered encryption key",
    steps: [{ do: "dkg", keyCurve: "none" }],
    fails: "dynamic_field 1",
  },
  {
    name: "A dWallet has the curve of its encryption key",
    steps: [{ do: "dkg", keyCurve: 2 }],
    fails: "coordinator_inner 17",
  },
  {
    name: "A dWallet needs a curve that Ika supports",
    steps: [...ceilings(9, 0, ["dkg"]), { do: "dkg", curve: 9 }],
    fails: "support_config 2",
  },
  {
    name: "A dWallet needs a network key that Ika has",
    steps: [{ do: "dkg", networkKey: "unknown" }],
    fails: "coordinator_inner 5",
  },
  {
    name: "While Ika pauses a curve, no dWallet is made on it",
    steps: [{ do: "pause curve", curve: 0 }, { do: "dkg" }],
    fails: "support_config 4",
  },
  {
    name: "A presign needs a curve that Ika supports",
    steps: [...ceilings(9), { do: "presigns", curve: 9 }],
    fails: "support_config 2",
  },
  {
    name: "A presign needs an algorithm that its curve has",
    steps: [...ceilings(0, 7), { do: "presigns", algorithm: 7 }],
    fails: "support_config 3",
  },
  {
    name: "A presign needs a network key that Ika has",
    steps: [{ do: "presigns", networkKey: "unknown" }],
    fails: "coordinator_inner 5",
  },
  {
    name: "An unsupported curve is reported before an unknown network key",
    steps: [...ceilings(9), { do: "presigns", curve: 9, networkKey: "unknown" }],
    fails: "support_config 2",
  },

  {
    name: "The Treasury signs with no dWallet that it does not hold",
    steps: [...readyToSign, { do: "sign", dwallet: "unknown" }],
    fails: "custody 1",
  },
  {
    name: "The Treasury signs with no presign that it does not hold",
    steps: [...readyToSign, { do: "sign", presign: "unknown" }],
    fails: "custody 2",
  },
  {
    name: "A presign signs only once",
    steps: [...readyToSign, { do: "sign" }, { do: "sign" }],
    fails: "custody 2",
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
    fails: "treasury 8",
  },
  {
    name: "A dWallet signs only with presigns of the algorithm",
    steps: [...readyToSign, ...ceilings(0, 1), { do: "sign", algorithm: 1 }],
    fails: "coordinator_inner 7",
  },

  {
    name: "The Treasury pays for no share of a dWallet that it does not hold",
    steps: [...readyToSign, { do: "share", dwallet: "unknown" }],
    fails: "custody 1",
  },
  {
    name: "A share is paid below the ceiling of its dWallet's curve",
    steps: [...readyToSign, ...ceilings(2, 0, ["share"]), { do: "share", curve: 2 }],
    fails: "treasury 8",
  },
  {
    name: "A share needs an encryption key of the other user",
    steps: [...readyToSign, { do: "share", hasKey: false }],
    fails: "dynamic_field 1",
  },
  {
    name: "Only a dWallet that its user has accepted is shared",
    steps: [{ do: "dkg" }, { do: "share" }],
    fails: "coordinator_inner 2",
  },
  {
    name: "A share is made from another share of the dWallet",
    steps: [...readyToSign, { do: "share", source: "unknown" }],
    fails: "coordinator_inner 12",
  },
  {
    name: "The Treasury pays for no share of a dWallet that has left",
    steps: [...readyToSign, { do: "leave" }, { do: "share" }],
    fails: "custody 1",
  },
];
