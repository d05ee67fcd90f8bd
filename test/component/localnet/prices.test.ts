/** The prices of a local network that its options choose. */
import { afterEach, expect, it } from "vitest";
import { readCallPrices } from "../../../src/localnet/call-prices.ts";
import type { LocalnetOptions } from "../../../src/localnet/localnet.ts";
import { type Harness, payPresigns, startHarness } from "./harness.ts";

let harness: Harness | undefined;
afterEach(() => harness?.close());

/** What the Treasury pays for a presign, by its own event. */
async function presignPrice(options: LocalnetOptions) {
  harness = await startHarness(options);
  const running = harness;
  const { events } = await running.run((tx) => payPresigns(running, tx, { count: 1 }));
  const { json } = events.find(({ eventType }) => eventType.endsWith("::PresignPaid"))!;
  const { ika, sui } = json as { readonly ika: string; readonly sui: string };
  return { ika: BigInt(ika), sui: BigInt(sui) };
}

it("are the chosen ones, and the usual ones for every other call", async () => {
  const usual = await presignPrice({});
  await harness!.close();
  const chosen = await presignPrice({ prices: readCallPrices(["presign=7,11", "sign=1,1"]) });
  const usualSui = 2_000_000n;
  expect(chosen).toEqual({ ika: 7n, sui: usual.sui - usualSui + 11n });
  await harness!.close();
  expect(await presignPrice({ prices: readCallPrices(["sign=1,1"]) })).toEqual(usual);
});

it("are chosen for all calls at once, except for those that have a price of their own", () => {
  const prices = readCallPrices(["sign=2,3", "all=0,0"]);
  expect(prices).toMatchObject({ sign: { ika: 2n, sui: 3n }, "public-share": { ika: 0n, sui: 0n } });
  expect(Object.keys(prices)).toHaveLength(9);
});

it.each(["presign", "presign=1", "presign=1,-1", "presign=1,1,1", "party=1,1", "toString=1,1", ""])(
  "are refused unless they are whole: %j",
  (item) => {
    expect(() => readCallPrices([item])).toThrow("takes <call>=<ika>,<sui> in the smallest units");
  },
);
