import { createClient } from "threshold-signing-client";
import settings from "./settings.mjs";
import sign from "./sign.cjs";

console.log(await sign(createClient, settings));
