const { createClient, TssError } = require("threshold-signing-client");
const settings = require("./settings.json");
const sign = require("./sign.cjs");

test("signs", async () => {
  expect(() => createClient({ ...settings, network: "localnet", engine: "none" })).toThrow(TssError);
  process.stdout.write(await sign(createClient, settings));
}, 120_000);
