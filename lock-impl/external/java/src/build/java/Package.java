import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * `java Package.java take FOLDER LIBRARY VERSION`: FOLDER/pom.xml asks for that version. What is downloaded then must be what
 * FOLDER/pins/ARTIFACT@VERSION.sha256 says; where there is no such file it is not checked.
 * `java Package.java check FOLDER`: the libraries in FOLDER/lib are those of FOLDER/libraries.sha256, to the byte.
 * `java Package.java jar FOLDER`: FOLDER/client.jar of what was compiled, which names them in a fixed order; only so can a JVM
 * keep an archive of classes.
 */
final class Package {
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[1]);
    if (arguments[0].equals("take")) {
      take(folder, arguments[2].split(":")[1], arguments[3]);
      return;
    }
    List<Path> libraries;
    try (var files = Files.list(folder.resolve("lib"))) {
      libraries = files.sorted().toList();
    }
    if (arguments[0].equals("check")) check(folder, libraries);
    else jar(folder, libraries);
  }

  private static void take(Path folder, String artifact, String version) throws IOException {
    Path pom = folder.resolve("pom.xml");
    String before = Files.readString(pom);
    String asked = "(<artifactId>" + Pattern.quote(artifact) + "</artifactId>\\s*<version>)[^<]*";
    String after = before.replaceFirst(asked, "$1" + Matcher.quoteReplacement(version));
    if (after.equals(before)) fail("pom.xml does not ask for " + artifact + ", or for " + version + " already");
    Files.writeString(pom, after);
    Path pinned = folder.resolve("pins").resolve(artifact + "@" + version + ".sha256");
    Path expected = folder.resolve("libraries.sha256");
    if (Files.exists(pinned)) Files.copy(pinned, expected, StandardCopyOption.REPLACE_EXISTING);
    else Files.move(expected, folder.resolve(UNPINNED), StandardCopyOption.REPLACE_EXISTING);
  }

  /** Says that nothing is known of what is downloaded: it has the hashes of another version. */
  private static final String UNPINNED = "libraries-unpinned";

  private static void check(Path folder, List<Path> libraries) throws Exception {
    if (Files.exists(folder.resolve(UNPINNED))) return;
    Map<String, String> expected =
        Files.readAllLines(folder.resolve("libraries.sha256")).stream()
            .map(line -> line.split(" +"))
            .collect(Collectors.toMap(words -> words[1], words -> words[0], (a, b) -> a, TreeMap::new));
    for (Path library : libraries) {
      String name = library.getFileName().toString();
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(library));
      if (!HexFormat.of().formatHex(hash).equals(expected.remove(name))) fail(name + " is not what libraries.sha256 says");
    }
    if (!expected.isEmpty()) fail(expected.keySet() + " are in libraries.sha256 and were not fetched");
  }

  private static void fail(String what) {
    System.err.println("error: " + what);
    System.exit(1);
  }

  private static void jar(Path folder, List<Path> libraries) throws IOException {
    var manifest = new Manifest();
    var main = manifest.getMainAttributes();
    main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    main.put(Attributes.Name.MAIN_CLASS, "Client");
    String path = libraries.stream().map(library -> "lib/" + library.getFileName()).collect(Collectors.joining(" "));
    main.put(Attributes.Name.CLASS_PATH, path);
    try (OutputStream file = Files.newOutputStream(folder.resolve("client.jar"));
        var jar = new JarOutputStream(file, manifest);
        var classes = Files.walk(folder.resolve("classes"))) {
      for (Path one : classes.filter(Files::isRegularFile).sorted().toList()) {
        jar.putNextEntry(new JarEntry(folder.resolve("classes").relativize(one).toString()));
        Files.copy(one, jar);
      }
    }
  }
}
