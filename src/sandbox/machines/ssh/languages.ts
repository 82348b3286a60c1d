import type { Language } from '../traits.ts';

/** Error messages for an unknown program. */
interface Words {
  cmd(program: string): string;
  powershell(program: string): string;
}

/** Code page 932, one character per byte: "is not recognized as an internal or external command". */
const codePage932 = {
  term: bytesOf('97708cea'),
  isNoCommand: bytesOf(
    '82cd814193e095948352837d8393836882dc82bd82cd8a4f95948352837d839383688141' +
      '0d0a91808dec89c2945c82c88376838d834f8389838082dc82bd82cd836f8362836020837483408343838b' +
      '82c682b582c494468eaf82b382ea82c482a282dc82b982f181420d0a',
  ),
} as const;

function bytesOf(hex: string): string {
  return String.fromCharCode(...Uint8Array.fromHex(hex));
}

const languages: Readonly<Record<Language, Words>> = {
  english: {
    cmd: program =>
      `'${program}' is not recognized as an internal or external command,\r\noperable program or batch file.\r\n`,
    powershell: program =>
      `${program} : The term '${program}' is not recognized as the name of a cmdlet, function, script file, or operable program.\r\n`,
  },
  german: {
    cmd: program => `Der Befehl "${program}" ist entweder falsch geschrieben oder\r\nkonnte nicht gefunden werden.\r\n`,
    powershell: program =>
      `${program} : Die Benennung "${program}" wurde nicht als Name eines Cmdlet, einer Funktion oder eines ausführbaren Programms erkannt.\r\n`,
  },
  french: {
    cmd: program =>
      `'${program}' n'est pas reconnu en tant que commande interne\r\nou externe, un programme exécutable ou un fichier de commandes.\r\n`,
    powershell: program =>
      `${program} : Le terme «${program}» n'est pas reconnu comme nom d'applet de commande, fonction ou programme exécutable.\r\n`,
  },
  japanese: {
    cmd: program => `'${program}' ${codePage932.isNoCommand}`,
    powershell: program => `${program} : ${codePage932.term} '${program}' ${codePage932.isNoCommand}`,
  },
};

/** Code page 850 of Western European consoles. */
const codePage850: Readonly<Record<string, number>> = {
  é: 0x82,
  è: 0x8a,
  ü: 0x81,
  ä: 0x84,
  ö: 0x94,
  '«': 0xae,
  '»': 0xaf,
};

/** The message of a shell for an unknown program, in its code page. */
export function unknownProgram(program: string, shell: 'cmd' | 'powershell', language: Language): Uint8Array {
  const letters = language === 'japanese' ? {} : codePage850;
  return Uint8Array.from(languages[language][shell](program), letter => letters[letter] ?? letter.charCodeAt(0));
}
