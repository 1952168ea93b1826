/** Light, dark, or as the system has it. */
import { signal } from '@preact/signals';

const KEY = 'keepwell-theme';
const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const kept = localStorage.getItem(KEY) as Theme | null;
export const theme = signal<Theme>(kept !== null && THEMES.includes(kept) ? kept : 'system');

theme.subscribe((value) => {
  document.documentElement.dataset['theme'] = value;
  localStorage.setItem(KEY, value);
});

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
}
