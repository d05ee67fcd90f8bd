const { createClient } = require("threshold-signing-client");
const settings = require("./settings.json");
const sign = require("./sign.cjs");

void sign(createClient, settings).then(console.log);
