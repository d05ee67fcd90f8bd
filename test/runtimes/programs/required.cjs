const { createClient } = require("threshold-signing-client");
const settings = require("./settings.json");
const sign = require("./sign.cjs");

sign(createClient, settings).then(console.log);
