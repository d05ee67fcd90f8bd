import type { Scenario, Step } from "../scenario.ts";
import { OLD_VERSION, readyToSign } from "./common-steps.ts";

/** How the administrator releases capabilities and moves them to a successor. */
export const RELEASE_SCENARIOS: readonly Scenario[] = [
  {
    name: "The administrator releases a dWallet fourteen epochs after the announcement",
    steps: [
      { do: "dkg" },
      { do: "announce release" },
      { do: "epochs pass", count: 14 },
      { do: "release dwallet" },
    ],
  },
  {
    name: "The administrator releases no dWallet before fourteen epochs have passed",
    steps: [
      { do: "dkg" },
      { do: "announce release" },
      { do: "epochs pass", count: 13 },
      { do: "release dwallet" },
    ],
    fails: "custody 6",
  },
  {
    name: "The administrator releases a dWallet up to the fourteenth epoch after the delay",
    steps: [
      { do: "dkg" },
      { do: "announce release" },
      { do: "epochs pass", count: 27 },
      { do: "release dwallet" },
    ],
  },
  {
    name: "An announced release expires",
    steps: [
      { do: "dkg" },
      { do: "announce release" },
      { do: "epochs pass", count: 28 },
      { do: "release dwallet" },
    ],
    fails: "custody 11",
  },
  {
    name: "The administrator releases no dWallet that was not announced",
    steps: [{ do: "dkg" }, { do: "epochs pass", count: 14 }, { do: "release dwallet" }],
    fails: "custody 4",
  },
  {
    name: "A dWallet that awaits its release signs",
    steps: [...readyToSign, { do: "announce release" }, { do: "sign" }],
  },
  {
    name: "A released dWallet cannot sign",
    steps: [
      ...readyToSign,
      { do: "announce release" },
      { do: "epochs pass", count: 14 },
      { do: "release dwallet" },
      { do: "sign" },
    ],
    fails: "custody 1",
  },
  {
    name: "A release that is announced is not announced again",
    steps: [{ do: "dkg" }, { do: "announce release" }, { do: "announce release" }],
    fails: "custody 5",
  },
  {
    name: "Sixty-four releases can be announced at the same time",
    steps: Array.from({ length: 64 }, (): Step[] => [{ do: "dkg" }, { do: "announce release" }]).flat(),
  },
  {
    name: "No more than sixty-four releases can be announced at the same time",
    steps: Array.from({ length: 65 }, (): Step[] => [{ do: "dkg" }, { do: "announce release" }]).flat(),
    fails: "custody 10",
  },
  ...(["withdraw release", "refuse release", "leave"] as const).map(
    (end): Scenario => ({
      name: `A release that ended by a ${end} makes room for another`,
      steps: [
        ...Array.from({ length: 64 }, (): Step[] => [{ do: "dkg" }, { do: "announce release" }]).flat(),
        { do: end },
        { do: "dkg" },
        { do: "announce release" },
      ],
    }),
  ),
  {
    name: "The delay starts again when a release is withdrawn",
    steps: [
      { do: "dkg" },
      { do: "announce release" },
      { do: "epochs pass", count: 13 },
      { do: "withdraw release" },
      { do: "announce release" },
      { do: "epochs pass", count: 1 },
      { do: "release dwallet" },
    ],
    fails: "custody 6",
  },
  {
    name: "A release that was withdrawn does not take place",
    steps: [
      { do: "dkg" },
      { do: "announce release" },
      { do: "withdraw release" },
      { do: "epochs pass", count: 14 },
      { do: "release dwallet" },
    ],
    fails: "custody 4",
  },
  {
    name: "A release that is not announced is not withdrawn",
    steps: [{ do: "dkg" }, { do: "withdraw release" }],
    fails: "custody 4",
  },
  {
    name: "A successor that is not announced is not withdrawn",
    steps: [{ do: "withdraw successor" }],
    fails: "custody 4",
  },
  {
    name: "The owner stops a release that was announced",
    steps: [
      { do: "dkg" },
      { do: "announce release" },
      { do: "refuse release", expiresEpoch: 0 },
      { do: "epochs pass", count: 14 },
      { do: "release dwallet" },
    ],
    fails: "custody 4",
  },
  {
    name: "A dWallet whose owner refuses is not announced for release",
    steps: [{ do: "dkg" }, { do: "refuse release" }, { do: "announce release" }],
    fails: "custody 3",
  },
  {
    name: "In a Treasury of another version, no owner refuses",
    steps: [{ do: "dkg" }, { do: "treasury version", version: OLD_VERSION }, { do: "refuse release" }],
    fails: "treasury 1",
  },
  ...(["announce release", "withdraw release", "release dwallet"] as const).map(
    (what): Scenario => ({
      name: `There is no ${what} of a dWallet that the Treasury does not hold`,
      steps: [{ do: what, dwallet: "unknown" }],
      fails: "custody 1",
    }),
  ),

  {
    name: "Capabilities move to the successor fourteen epochs after the announcement",
    steps: [
      ...readyToSign,
      { do: "announce successor" },
      { do: "epochs pass", count: 14 },
      { do: "move dwallet" },
      { do: "move presign" },
    ],
  },
  ...(["move dwallet", "move presign"] as const).flatMap((what): Scenario[] => [
    {
      name: `Without a successor, there is no ${what}`,
      steps: [...readyToSign, { do: "epochs pass", count: 14 }, { do: what }],
      fails: "custody 4",
    },
    {
      name: `Before fourteen epochs, there is no ${what}`,
      steps: [...readyToSign, { do: "announce successor" }, { do: "epochs pass", count: 13 }, { do: what }],
      fails: "custody 6",
    },
    {
      name: `Up to the fourteenth epoch after the delay, there is a ${what}`,
      steps: [...readyToSign, { do: "announce successor" }, { do: "epochs pass", count: 27 }, { do: what }],
    },
    {
      name: `When the announced successor is older, there is no ${what}`,
      steps: [...readyToSign, { do: "announce successor" }, { do: "epochs pass", count: 28 }, { do: what }],
      fails: "custody 11",
    },
    {
      name: `After the successor is withdrawn, there is no ${what}`,
      steps: [
        ...readyToSign,
        { do: "announce successor" },
        { do: "epochs pass", count: 14 },
        { do: "withdraw successor" },
        { do: what },
      ],
      fails: "custody 4",
    },
  ]),
  {
    name: "A dWallet that the Treasury does not hold does not move",
    steps: [
      { do: "announce successor" },
      { do: "epochs pass", count: 14 },
      { do: "move dwallet", dwallet: "unknown" },
    ],
    fails: "custody 1",
  },
  {
    name: "A presign that the Treasury does not hold does not move",
    steps: [
      { do: "announce successor" },
      { do: "epochs pass", count: 14 },
      { do: "move presign", presign: "unknown" },
    ],
    fails: "custody 2",
  },
  {
    name: "A dWallet whose owner refuses does not move",
    steps: [
      { do: "dkg" },
      { do: "announce successor" },
      { do: "refuse release" },
      { do: "epochs pass", count: 14 },
      { do: "move dwallet" },
    ],
    fails: "custody 3",
  },
  {
    name: "A successor that is announced is not announced again",
    steps: [{ do: "announce successor" }, { do: "announce successor" }],
    fails: "custody 5",
  },
];
