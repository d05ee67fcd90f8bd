-- Since when a network takes no new work.
ALTER TABLE "known_network" ADD COLUMN "draining_since" TIMESTAMPTZ(3);
