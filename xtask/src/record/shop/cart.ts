import { labels } from "./labels";

export interface Line {
  name: string;
  cents: number;
  count: number;
}

export class Cart {
  private lines = new Map<string, Line>();

  add(name: string, cents: number, count = 1): void {
    const line = this.lines.get(name);
    if (line) {
      line.count += count;
    } else {
      this.lines.set(name, { name, cents, count });
    }
  }

  remove(name: string): void {
    this.lines.delete(name);
  }

  total(discount = 0): number {
    let cents = 0;
    for (const line of this.lines.values()) {
      cents += line.cents * line.count;
    }
    return cents - (cents * discount) / 100;
  }

  show(language: "en" | "ja"): string[] {
    return [...this.lines.values()].map((line) => {
      const [en, ja, mark] = labels[line.name] ?? [line.name, line.name, "📦"];
      return `${mark} ${language === "ja" ? ja : en} × ${line.count}`;
    });
  }
}
