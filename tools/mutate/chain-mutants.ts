import type { Mutant } from "./mutant.ts";

const OUTBOX = ["test/component/service/chain/submit/outbox.test.ts"];
const SUBMITTER = ["test/component/service/chain/submit/submitter.test.ts"];
const MIXED_UP = ["test/component/service/chain/mixed-up-fullnode.test.ts"];

/** Lines that decide what is sent, how often, and how the chain's answer is interpreted. */
export const CHAIN_MUTANTS: readonly Mutant[] = [
  {
    name: "the database serves another chain than it belongs to",
    file: "src/service/chain/fullnodes/check-chain.ts",
    find: "if (known?.chainId === chainIdentifier) return pinChain(chainIdentifier);",
    replace: "if (known !== undefined) return;",
    tests: ["test/component/service/chain/check-chain.test.ts"],
  },
  {
    name: "queued operations fail when Ika moves its coordinator to another version",
    file: "src/service/chain/submit/classify.ts",
    find: '"coordinator:0": "coordinator_version",',
    replace: "",
    tests: SUBMITTER,
  },
  {
    name: "an operation whose transaction is stored fails",
    file: "src/service/chain/submit/outbox.ts",
    find: "WHERE id = ${id} AND state = 'queued' RETURNING id",
    replace: "WHERE id = ${id} RETURNING id",
    tests: OUTBOX,
  },
  {
    name: "a process that lost its lane stores a transaction for it",
    file: "src/service/chain/submit/outbox.ts",
    find: "WHERE id = ${lease.laneId} AND fence = ${lease.fence} FOR NO KEY UPDATE",
    replace: "WHERE id = ${lease.laneId} FOR NO KEY UPDATE",
    tests: OUTBOX,
  },
  {
    name: "an operation that another lane has taken is stored",
    file: "src/service/chain/submit/outbox.ts",
    find: "AND state = 'queued' AND claimed_fence = ${lease.fence} RETURNING",
    replace: "AND state = 'queued' RETURNING",
    tests: OUTBOX,
  },
  {
    name: "two lanes take the same operation",
    file: "src/service/chain/submit/outbox.ts",
    find: "o.claimed_fence = ${fence} OR NOT EXISTS (",
    replace: "true OR NOT EXISTS (",
    tests: OUTBOX,
  },
  {
    name: "two processes hold the same lane",
    file: "src/service/chain/submit/lane-table.ts",
    find: "WHERE id = ${laneId} AND leased_until <= now() AND NOT EXISTS",
    replace: "WHERE id = ${laneId} AND NOT EXISTS",
    tests: OUTBOX,
  },
  {
    name: "a block carries another budget than its dry run",
    file: "src/service/chain/submit/move-block.ts",
    find: ".u64(gasPriceMist).u64(budgetMist)",
    replace: ".u64(budgetMist).u64(gasPriceMist)",
    tests: ["test/unit/service/chain/submit/move-block.test.ts"],
  },
  {
    name: "a block carries an object twice",
    file: "src/service/chain/submit/move-block.ts",
    find: "objects.get(objectId) ?? add(input)",
    replace: "add(input)",
    tests: ["test/unit/service/chain/submit/move-block.test.ts"],
  },
  {
    name: "a block whose dry run failed is signed",
    file: "src/service/chain/submit/build-transaction.ts",
    find: "response.transaction?.effects?.status?.success !== true || !budgetMist",
    replace: "!budgetMist",
    tests: ["test/unit/service/chain/submit/build-transaction.test.ts"],
  },
  {
    name: "lanes continue while another sender uses the hot wallet",
    file: "src/service/chain/submit/lane-table.ts",
    find: "other.network = lane.network AND other.foreign_digest IS NOT NULL",
    replace: "other.network = lane.network AND false",
    tests: ["test/component/service/chain/lanes.test.ts"],
  },
  {
    name: "the outcome of a transaction is written twice",
    file: "src/service/chain/submit/outbox.ts",
    find: "WHERE digest = ${digest} AND state = 'stored' RETURNING digest",
    replace: "WHERE digest = ${digest} RETURNING digest",
    tests: OUTBOX,
  },
  {
    name: "an operation that landed on the chain is marked as failed",
    file: "src/service/chain/submit/refuse-operations.ts",
    find: "if (!(await adopt(only, failure))) {",
    replace: "if (failure !== undefined) {",
    tests: SUBMITTER,
  },
  {
    name: "an operation fails although another process has taken it up",
    file: "src/service/chain/submit/refuse-operations.ts",
    find: "if (!(await failOperation(db, operation.id, why.reason, failure.message))) return;",
    replace: "await failOperation(db, operation.id, why.reason, failure.message);",
    tests: OUTBOX,
  },
  {
    name: "a whole batch fails for one of its operations",
    file: "src/service/chain/submit/refuse-operations.ts",
    find: "if (operations.length > 1 && !isAboutAll(failure)) {",
    replace: "if (operations.length > 100) {",
    tests: SUBMITTER,
  },
  {
    name: "another object is accepted as the requested one",
    file: "src/protocol/chain/bind-answers.ts",
    find: "for (const found of [addressOf(object?.objectId), contentId ?? wanted]) {",
    replace: "for (const found of [wanted]) {",
    tests: MIXED_UP,
  },
  {
    name: "another transaction is accepted as the requested one",
    file: "src/protocol/chain/bind-answers.ts",
    find: "].find((one) => one !== undefined && one !== digest);",
    replace: "].find(() => false);",
    tests: MIXED_UP,
  },
  {
    name: "another user's coin is accepted as the lane's",
    file: "src/protocol/chain/bind-answers.ts",
    find: "if (addressOf(object.owner?.address) !== addressOf(owner))",
    replace: "if (object.owner === undefined)",
    tests: MIXED_UP,
  },
  {
    name: "a lane renews its lease too late",
    file: "src/service/chain/submit/lane-driver.ts",
    find: "leaseMs / 3",
    replace: "leaseMs",
    tests: ["test/component/service/chain/submit/lane-lease.test.ts"],
  },
  {
    name: "a batch is stored whole although another lane has taken a part of it",
    file: "src/service/chain/submit/outbox.ts",
    find: "if (tiedCount !== operationIds.length)",
    replace: "if (tiedCount === 0 && operationIds.length > 0)",
    tests: OUTBOX,
  },
];
