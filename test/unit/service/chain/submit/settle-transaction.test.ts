import { expect, it } from "vitest";
import type { Lane } from "../../../../../src/service/chain/submit/lane.ts";
import { createTransactionSettler } from "../../../../../src/service/chain/submit/settle-transaction.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { silentLog } from "../../../../support/silent-log.ts";

it("wakes the other lanes when a transaction that can never land returns its operations to the queue", async () => {
  const told: string[] = [];
  const query = async () => [];
  const settle = createTransactionSettler({
    database: {
      query,
      transaction: (work: (db: object) => unknown) => work({ query }),
    } as unknown as Database,
    kindOf: () => expect.unreachable(),
    refuse: async () => void told.push("refused"),
    notify: () => void told.push("ended"),
    requeued: () => void told.push("requeued"),
    log: silentLog,
  });
  const lane = { id: "0x1", send: async () => ({ kind: "dead", reason: "its gas coin was spent" }) };
  const stored = { digest: "digest", bytes: new Uint8Array(), signatures: [] };
  expect(await settle(lane as unknown as Lane, stored as never)).toBe("dead");
  expect(told).toEqual(["requeued"]);
});
