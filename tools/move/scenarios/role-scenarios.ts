import type { Scenario, Step } from "../scenario.ts";
import { OLD_VERSION, toStranger } from "./common-steps.ts";

const aPause: Step = { do: "pause", paused: false };
/** Who pauses, who administers, and who recovers the administration. */
export const ROLE_SCENARIOS: readonly Scenario[] = [
  {
    name: "The pauser stops payments",
    steps: [
      { do: "set roles", pauser: "stranger" },
      toStranger,
      { do: "pause as pauser" },
      { do: "act as", who: "hot wallet" },
      { do: "presigns" },
    ],
    fails: "treasury 2",
  },
  {
    name: "The administrator resumes payments that the pauser has stopped",
    steps: [{ do: "set roles", pauser: "hot wallet" }, { do: "pause as pauser" }, aPause, { do: "presigns" }],
  },
  { name: "Without the role, nobody pauses", steps: [{ do: "pause as pauser" }], fails: "roles 2" },
  {
    name: "Only the pauser pauses",
    steps: [{ do: "set roles", pauser: "stranger" }, { do: "pause as pauser" }],
    fails: "roles 2",
  },
  {
    name: "A former pauser does not pause",
    steps: [{ do: "set roles", pauser: "hot wallet" }, { do: "set roles" }, { do: "pause as pauser" }],
    fails: "roles 2",
  },
  {
    name: "In a Treasury of another version, nobody pauses",
    steps: [
      { do: "set roles", pauser: "hot wallet" },
      { do: "treasury version", version: OLD_VERSION },
      { do: "pause as pauser" },
    ],
    fails: "treasury 1",
  },
  {
    name: "An address that accepts the administration has its rights",
    steps: [
      { do: "offer admin", to: "stranger" },
      toStranger,
      { do: "accept admin" },
      { do: "new operator" },
    ],
  },
  {
    name: "A former administrator has no rights",
    steps: [
      { do: "offer admin", to: "stranger" },
      toStranger,
      { do: "accept admin" },
      { do: "new operator", admin: "first" },
    ],
    fails: "roles 1",
  },
  {
    name: "An administration that was only offered changes nothing",
    steps: [{ do: "offer admin", to: "stranger" }, { do: "new operator" }],
  },
  {
    name: "Only the address that it was offered to accepts the administration",
    steps: [{ do: "offer admin", to: "stranger" }, { do: "accept admin" }],
    fails: "roles 4",
  },
  {
    name: "Without an offer, nobody accepts the administration",
    steps: [{ do: "accept admin" }],
    fails: "roles 4",
  },
  {
    name: "The administration is accepted only once",
    steps: [{ do: "offer admin", to: "hot wallet" }, { do: "accept admin" }, { do: "accept admin" }],
    fails: "roles 4",
  },
  {
    name: "An offer that was withdrawn is not accepted",
    steps: [{ do: "offer admin", to: "hot wallet" }, { do: "withdraw admin offer" }, { do: "accept admin" }],
    fails: "roles 4",
  },
  {
    name: "A later offer replaces an earlier one",
    steps: [
      { do: "offer admin", to: "hot wallet" },
      { do: "offer admin", to: "stranger" },
      { do: "accept admin" },
    ],
    fails: "roles 4",
  },
  {
    name: "In a Treasury of another version, nobody accepts the administration",
    steps: [
      { do: "offer admin", to: "hot wallet" },
      { do: "treasury version", version: OLD_VERSION },
      { do: "accept admin" },
    ],
    fails: "treasury 1",
  },
  {
    name: "The recovery holder replaces a lost AdminCap after seven epochs",
    steps: [
      { do: "set roles", recovery: "hot wallet" },
      { do: "recover admin", to: "stranger" },
      { do: "epochs pass", count: 7 },
      toStranger,
      { do: "accept admin" },
      { do: "new operator" },
    ],
  },
  {
    name: "The recovery holder replaces no AdminCap before seven epochs",
    steps: [
      { do: "set roles", recovery: "hot wallet" },
      { do: "recover admin", to: "hot wallet" },
      { do: "epochs pass", count: 6 },
      { do: "accept admin" },
    ],
    fails: "roles 5",
  },
  {
    name: "The administrator stops a recovery",
    steps: [
      { do: "set roles", recovery: "hot wallet" },
      { do: "recover admin", to: "hot wallet" },
      { do: "withdraw admin offer" },
      { do: "epochs pass", count: 7 },
      { do: "accept admin" },
    ],
    fails: "roles 4",
  },
  {
    name: "The offer of a recovery holder ends when another one follows",
    steps: [
      { do: "set roles", recovery: "hot wallet" },
      { do: "recover admin", to: "hot wallet" },
      { do: "set roles", recovery: "stranger" },
      { do: "epochs pass", count: 7 },
      { do: "accept admin" },
    ],
    fails: "roles 4",
  },
  {
    name: "The offer of a recovery holder stays when only the pauser changes",
    steps: [
      { do: "set roles", recovery: "hot wallet" },
      { do: "recover admin", to: "hot wallet" },
      { do: "set roles", pauser: "stranger", recovery: "hot wallet" },
      { do: "epochs pass", count: 7 },
      { do: "accept admin" },
    ],
  },
  {
    name: "The administrator's own offer stays when another recovery holder follows",
    steps: [
      { do: "offer admin", to: "hot wallet" },
      { do: "set roles", recovery: "stranger" },
      { do: "accept admin" },
    ],
  },
  {
    name: "Without an offer, no offer is withdrawn",
    steps: [{ do: "withdraw admin offer" }],
    fails: "roles 4",
  },
  {
    name: "Only the recovery holder recovers the administration",
    steps: [
      { do: "set roles", recovery: "stranger" },
      { do: "recover admin", to: "hot wallet" },
    ],
    fails: "roles 3",
  },
  {
    name: "Without the role, nobody recovers the administration",
    steps: [{ do: "recover admin", to: "hot wallet" }],
    fails: "roles 3",
  },
  {
    name: "In a Treasury of another version, nobody recovers the administration",
    steps: [
      { do: "set roles", recovery: "hot wallet" },
      { do: "treasury version", version: OLD_VERSION },
      { do: "recover admin", to: "hot wallet" },
    ],
    fails: "treasury 1",
  },
];
