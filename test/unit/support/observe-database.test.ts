import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { createStatementEvents, observeDatabase } from "../../support/database/observe-database.ts";

/** A database whose only row is a number that each statement through the observed database raises. */
function counted(events = createStatementEvents()) {
  let count = 0;
  const database = {
    query: async () => [++count],
    prisma: { $extends: () => ({}) },
  } as unknown as Database;
  return { observed: observeDatabase(database, events), read: () => count };
}

describe("a test that observes a database", () => {
  it("checks again after each statement, and not in between", async () => {
    const { observed, read } = counted();
    let checkCount = 0;
    const reached = observed.until(async () => {
      checkCount++;
      return read() === 3 && "three";
    });
    for (let n = 0; n < 3; n++) {
      await observed.query("");
      await new Promise(setImmediate);
    }
    expect(await reached).toBe("three");
    expect(checkCount).toBe(4);
  });

  it("is woken by a statement of each database with the same events", async () => {
    const events = createStatementEvents();
    const [one, other] = [counted(events), counted(events)];
    const reached = one.observed.until(async () => other.read() === 1);
    await other.observed.query("");
    expect(await reached).toBe(true);
  });

  it("repeats only a call that came too early", async () => {
    const { observed, read } = counted();
    const early = observed.retrying(async () => {
      if (read() === 0) throw new ServiceError("DEADLINE", "not yet");
      return "done";
    });
    await observed.query("");
    expect(await early).toBe("done");
    const refused = new ServiceError("DWALLET_LEFT", "gone");
    await expect(observed.retrying(() => Promise.reject(refused))).rejects.toBe(refused);
  });
});
