-- The last rehearsal of an owner's exit that a key of the project reported.
ALTER TABLE "dwallet" ADD COLUMN     "exit_drill_at" TIMESTAMPTZ(3),
ADD COLUMN     "exit_drill_outcome" TEXT;
