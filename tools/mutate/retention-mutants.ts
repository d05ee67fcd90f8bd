import type { Mutant } from "./mutant.ts";

const LOOP = ["test/component/service/signing/retention-loop.test.ts"];
const RACE = ["test/race/retention.test.ts"];

/** Lines that keep retention from deleting needed data. */
export const RETENTION_MUTANTS: readonly Mutant[] = [
  {
    name: "a request in progress loses its half",
    file: "src/service/signing/loops/retention-loop.ts",
    find: "r.status IN ('completed', 'failed') AND ",
    replace: "",
    tests: LOOP,
  },
  {
    name: "a request loses its half before its operation has ended",
    file: "src/service/signing/loops/retention-loop.ts",
    find: "o.state IN ('landed', 'failed')",
    replace: "true",
    tests: LOOP,
  },
  {
    name: "a request loses its half as soon as it has ended",
    file: "src/service/signing/loops/retention-loop.ts",
    find: "r.updated_at <= statement_timestamp() - ${days} * interval '1 day'",
    replace: "${days}::float8 IS NOT NULL",
    tests: LOOP,
  },
  {
    name: "a failed request that was charged is deleted",
    file: "src/service/signing/loops/retention-loop.ts",
    find: "failure_reason = 'RESERVATION_EXPIRED' AND user_sign_message IS NULL",
    replace: "status = 'failed'",
    tests: LOOP,
  },
  {
    name: "a transaction without an outcome loses its bytes",
    file: "src/service/chain/submit/outbox.ts",
    find: "state <> 'stored' AND ",
    replace: "",
    tests: LOOP,
  },
  {
    name: "replicas wait for each other's rows",
    file: "src/service/signing/loops/retention-loop.ts",
    find: "  ORDER BY r.updated_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED",
    replace: "  ORDER BY r.updated_at LIMIT ${maxCount} FOR UPDATE",
    tests: RACE,
  },
  {
    name: "a rebuilt request stays without the half",
    file: "src/service/signing/lost-sign-requests.ts",
    find: " AND user_sign_message = ''",
    replace: " AND user_sign_message IS NULL",
    tests: ["test/component/service/restore/rebuild-signs.test.ts"],
  },
];
