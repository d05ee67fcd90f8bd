import { describe, expect, it } from "vitest";
import { connecting } from "../../support/database/test-pool.ts";

const URL_OF_SERVER = "postgresql://someone:secret@db.example:5433/postgres";
const failed = (code: string) => () => Promise.reject(Object.assign(new Error("no"), { code }));

describe("what opens a connection to a test's PostgreSQL", () => {
  it("says which server has no connection left, and what to do about it", async () => {
    const error: Error = await connecting(URL_OF_SERVER, failed("53300")).catch((cause) => cause);
    expect(error.message).toMatch(
      /^PostgreSQL at db\.example:5433 has no connection left: end .*--maxWorkers, or raise its max_connections$/,
    );
    expect(error.message).not.toContain("secret");
    expect(error.cause).toMatchObject({ code: "53300" });
  });

  it("passes on every other failure, and the result", async () => {
    await expect(connecting(URL_OF_SERVER, failed("ECONNREFUSED"))).rejects.toThrow(/^no$/);
    await expect(connecting(URL_OF_SERVER, async () => 1)).resolves.toBe(1);
  });
});
