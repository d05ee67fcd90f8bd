import { expect, test } from "vitest";
import { chooseChain } from "../../../../src/client/sdk/chain/choose-chain.ts";

const urls = (count: number) => Array.from({ length: count }, (_, index) => `https://${index}.invalid`);
const choose = (fullnodeUrl: readonly string[]) => chooseChain({ network: "localnet", fullnodeUrl });

test("a client asks one to eight fullnodes", () => {
  for (const count of [1, 8]) expect(choose(urls(count)).fullnodeUrls).toHaveLength(count);
  for (const count of [0, 9]) expect(() => choose(urls(count))).toThrow("must be 1 to 8 URLs");
});
