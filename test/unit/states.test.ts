/** The diagrams of docs/states.md, compared with the schema, the contract and the statements of the sources. */
import { describe, expect, it } from "vitest";
import { readSource } from "../support/repository/source-files.ts";
import {
  constrainedStates,
  contractStates,
  documentedMoves,
  type Transition,
  writtenTransitions,
} from "../support/repository/state-statements.ts";

/** The table of each diagram, by its heading. */
const TABLES: Readonly<Record<string, string>> = {
  "Sign request": "sign_request",
  dWallet: "dwallet",
  "Share for another user": "dwallet_share",
  Deposit: "deposit",
  Presign: "presign",
  "Chain operation": "chain_operation",
  Transaction: "chain_transaction",
  Sweep: "sweep",
  "Consent at the Treasury": "treasury_consent",
  "Delivery of a webhook": "webhook_delivery",
};

/** Transitions whose statement does not name both states, each with the reason. Presigns have a table of their own. */
const UNNAMED: Readonly<Record<string, Readonly<Record<Transition, string>>>> = {
  sign_request: {
    "queued --> failed": "the caller of the statement names the state before",
    "submitted --> failed": "the caller of the statement names the state before",
  },
  dwallet: {
    "Submitting --> Failed": "the caller of the statement names both states",
    "AwaitingNetworkDKGVerification --> NetworkRejectedDKGVerification":
      "the caller of the statement names both states",
    "AwaitingNetworkDKGVerification --> AwaitingKeyHolderSignature": "the chain names the state",
    "AwaitingKeyHolderSignature --> Active": "the statement names the states that it leaves alone",
  },
  dwallet_share: {
    "Submitting --> Failed": "the caller of the statement names both states",
    "AwaitingNetworkVerification --> NetworkVerificationRejected":
      "the caller of the statement names both states",
  },
  deposit: { "waiting --> credited": "the query that finds the deposits names the state before" },
  chain_operation: {
    "queued --> landed": "the callers pass operations in either state",
    "sent --> landed": "the callers pass operations in either state",
    "failed --> queued": "an insert of a known operation, which names no table",
    "failed --> landed": "an insert of a known operation, which names no table",
  },
  chain_transaction: {
    "stored --> landed": "the outcome names the state",
    "stored --> aborted": "the outcome names the state",
    "stored --> dropped": "the outcome names the state",
    "dropped --> landed": "the outcome names the state",
    "dropped --> aborted": "the outcome names the state",
  },
  webhook_delivery: {
    "pending --> delivered": "the result of the attempt names the state",
    "pending --> failed": "the result of the attempt names the state",
    "delivered --> pending": "a resend takes a delivery in any state",
    "failed --> pending": "a resend takes a delivery in any state",
  },
  sweep: {
    "queued --> landed": "the outcome names the state",
    "queued --> refused": "the outcome names the state",
  },
};

const diagrams = new Map(
  [
    ...readSource("docs/states.md").text.matchAll(
      /^## (.+)\n\n```mermaid\nstateDiagram-v2\n([\s\S]*?)^```$/gm,
    ),
  ].map(([, heading = "", body = ""]) => [heading, [...body.matchAll(/^ {2}(\S+) --> (\S+?)(?:: .+)?$/gm)]]),
);
const shown = new Map(
  [...diagrams].map(([heading, edges]) => [
    TABLES[heading] ?? heading,
    {
      states: [...new Set(edges.flatMap(([, from = "", to = ""]) => [from, to]))].filter(
        (name) => name !== "[*]",
      ),
      transitions: edges
        .filter(([, from, to]) => from !== "[*]" && to !== "[*]")
        .map(([, from, to]): Transition => `${from} --> ${to}`),
    },
  ]),
);
const constrained = constrainedStates();
const written = writtenTransitions();

it("there is a diagram of each table whose states the database constrains, and of dWallets", () => {
  expect([...diagrams.keys()]).toEqual(Object.keys(TABLES));
  expect([...shown.keys()].sort()).toEqual([...constrained.keys(), "dwallet"].sort());
});

it.each([...constrained])("the diagram of %s has the states that the database allows", (table, states) => {
  expect([...(shown.get(table)?.states ?? [])].sort()).toEqual([...states].sort());
});

describe.each([...shown])("the diagram of %s", (table, { states, transitions }) => {
  it("has every transition that a statement makes, and no other", () => {
    const moves = table === "presign" ? documentedMoves(states) : [];
    const known = new Set([...(written.get(table) ?? []), ...Object.keys(UNNAMED[table] ?? {}), ...moves]);
    expect([...transitions].sort()).toEqual([...known].sort());
  });

  it("has no transition listed as unnamed that a statement names", () => {
    const named = Object.keys(UNNAMED[table] ?? {}).filter((one) =>
      written.get(table)?.has(one as Transition),
    );
    expect(named).toEqual([]);
  });
});

it.each([
  ["sign_request", contractStates("signing", "SignRequest", "Status"), []],
  ["deposit", contractStates("billing", "Deposit", "State"), []],
  // The contract shows no dWallet whose DKG never reached the chain.
  ["dwallet", contractStates("onboarding", "DWallet", "State"), ["Failed"]],
  // Nor a share that never reached it.
  ["dwallet_share", contractStates("sharing", "Holder", "State"), ["Failed"]],
] as const)("the states of %s are those of the contract", (table, states, hidden) => {
  expect(states.length).toBeGreaterThan(1);
  expect([...(shown.get(table)?.states ?? [])].sort()).toEqual([...states, ...hidden].sort());
});
