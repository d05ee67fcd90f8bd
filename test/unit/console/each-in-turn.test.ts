import { expect, it } from "vitest";
import { eachInTurn } from "../../../src/console/api/each-in-turn.ts";

it("acts in turn, stops at the first failure, and continues there at another try", async () => {
  const acted: string[] = [];
  const done = new Set<string>();
  let isDown = true;
  const act = async (item: string) => {
    acted.push(item);
    if (item === "b" && isDown) throw new Error("the service is down");
  };
  await expect(eachInTurn(["a", "b", "c"], done, act)).rejects.toThrow("the service is down");
  expect(acted).toEqual(["a", "b"]);
  isDown = false;
  await eachInTurn(["a", "b", "c"], done, act);
  expect(acted).toEqual(["a", "b", "b", "c"]);
});
