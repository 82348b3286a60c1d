import { playRemoveStory } from './remove-story.ts';
import { playRollbackStory } from './rollback-story.ts';
import { playRotateStory } from './rotate-story.ts';
import type { StoryName } from '../options.ts';
import type { StoryDeps } from './telling.ts';
import { playTakeoverStory } from './takeover-story.ts';
import { playUpgradeStory } from './upgrade-story.ts';

export const stories: Readonly<Record<StoryName, (deps: StoryDeps) => Promise<void>>> = {
  remove: playRemoveStory,
  upgrade: playUpgradeStory,
  rollback: playRollbackStory,
  rotate: playRotateStory,
  takeover: playTakeoverStory,
};
