/** A server of the transport in a real process, under good and bad traffic for ten seconds. */
import { expect, it } from "vitest";
import { soakTransport } from "../soak/soak-transport.ts";

const DURATION_MS = 10_000;

it("a server releases all memory, connections and timers of its clients after they leave", async () => {
  const { faults, counts, table } = await soakTransport({ durationMs: DURATION_MS });
  expect(faults.join("\n"), table).toBe("");
  expect(Object.values(counts).every((count) => count > 2)).toBe(true);
});
