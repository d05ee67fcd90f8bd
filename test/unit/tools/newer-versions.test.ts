import { expect, it } from "vitest";
import { newerVersions } from "../../../tools/check-ika/newer-versions.ts";

it("names newer versions in their order, prereleases apart, and ignores what is no version", () => {
  const published = ["1.0.0-beta.1", "0.10.0", "0.4.1", "0.4.2", "0.2.7", "0.4.1-rc.1", "latest", ""];
  expect(newerVersions("0.4.1", published)).toEqual({
    stable: ["0.4.2", "0.10.0"],
    prereleases: ["1.0.0-beta.1"],
  });
});

it("names none if the used version is the newest", () => {
  expect(newerVersions("0.4.1", ["0.2.7", "0.4.1"])).toEqual({ stable: [], prereleases: [] });
});
