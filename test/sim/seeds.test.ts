/** Simulates clients, killed replicas and a failing chain on a real PostgreSQL, and checks the end state. */
import { simulationSuite } from "./simulation-suite.ts";

await simulationSuite(5, 4);
